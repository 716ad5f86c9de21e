import { instant } from '#event-sourcing/core/clock.js';
import type { Decider } from '#event-sourcing/core/decider.js';
import { accept, assertNever, ignore, reject, type Decision } from '#event-sourcing/core/decision.js';
import type { WebhookEndpointEvent } from '../../contracts/events.js';
import type {
  EndpointChanges,
  WebhookEndpointCommand,
  WebhookEndpointRejection,
} from './webhook-endpoint.commands.js';
import { evolve, noEndpoint, type WebhookEndpoint } from './webhook-endpoint.state.js';

type EndpointDecision = Decision<WebhookEndpointEvent, WebhookEndpointRejection>;

const decide = (command: WebhookEndpointCommand, state: WebhookEndpoint): EndpointDecision => {
  if (command.type === 'CreateEndpoint') return create(command, state);
  if (state.existence !== 'live') return reject('EndpointNotFound', null);
  switch (command.type) {
    case 'ChangeEndpoint': {
      if (!allows(command.ifRevision, state)) return reject('RevisionMismatch', null);
      if (leavesHeaders(command.changes, state)) return reject('HeadersRequired', null);
      const events = changeEvents(command.changes, state);
      return events.length > 0 ? accept(...events) : ignore('NothingChanges');
    }
    case 'RotateSecret': {
      if (state.secrets.some(({ ref }) => ref === command.secretRef)) return ignore('AlreadyRotated');
      const previousValidUntil = instant(command.at + command.overlapSeconds * 1_000);
      return accept({
        type: 'WebhookEndpointSecretRotated',
        data: { secretRef: command.secretRef, previousValidUntil },
      });
    }
    case 'DisableEndpoint':
      if (!state.enabled) return ignore('AlreadyDisabled');
      // Failures of an earlier URL say nothing about the present one.
      if (command.url !== state.url) return ignore('MovedMeanwhile');
      return accept({ type: 'WebhookEndpointDisabled', data: { reason: command.reason } });
    case 'VerifyEndpoint':
      if (state.verified) return ignore('AlreadyVerified');
      if (command.url !== state.url) return ignore('MovedMeanwhile');
      return accept({ type: 'WebhookEndpointVerified', data: { url: command.url } });
    case 'DeleteEndpoint':
      return allows(command.ifRevision, state)
        ? accept({ type: 'WebhookEndpointDeleted', data: {} })
        : reject('RevisionMismatch', null);
    default:
      return assertNever(command);
  }
};

const create = (
  { type: _, ...settings }: WebhookEndpointCommand & { type: 'CreateEndpoint' },
  state: WebhookEndpoint,
): EndpointDecision => {
  const { events, modes, notices } = settings;
  return state.existence === 'none'
    ? accept({
        type: 'WebhookEndpointCreated',
        data: { ...settings, events: [...events], modes: [...modes], notices: [...notices] },
      })
    : ignore('AlreadyCreated');
};

/** The settings of an endpoint, each list a copy. */
const settingsOf = (
  { url, events, modes, notices, description, headersRef, maxPerSecond, verified }: WebhookEndpoint,
  changes: EndpointChanges = {},
) => {
  const { enabled: _, ...chosen } = changes;
  const settings = { url, events, modes, notices, description, headersRef, maxPerSecond, ...chosen };
  return {
    ...settings,
    // Another URL is not verified by what was said of this one.
    verified: settings.url === url ? verified : (changes.verified ?? false),
    events: [...settings.events],
    modes: [...settings.modes],
    notices: [...settings.notices],
  };
};

/** Headers may be credentials for one receiver, which nobody is shown again. So they do not follow the URL to another. */
const leavesHeaders = ({ url, headersRef }: EndpointChanges, state: WebhookEndpoint): boolean =>
  url !== undefined && headersRef === undefined && state.headersRef !== null && leadsElsewhere(url, state);

/** Whether a URL leads to another scheme, host or port. */
export const leadsElsewhere = (url: string, state: Pick<WebhookEndpoint, 'url'>): boolean =>
  new URL(url).origin !== new URL(state.url).origin;

const changeEvents = (changes: EndpointChanges, state: WebhookEndpoint): WebhookEndpointEvent[] => {
  const [before, after] = [settingsOf(state), settingsOf(state, changes)];
  const happened: WebhookEndpointEvent[] =
    JSON.stringify(before) === JSON.stringify(after) ? [] : [{ type: 'WebhookEndpointUpdated', data: after }];
  if (changes.enabled === false && state.enabled) {
    happened.push({ type: 'WebhookEndpointDisabled', data: { reason: 'requested' } });
  }
  if (changes.enabled === true && !state.enabled) happened.push({ type: 'WebhookEndpointEnabled', data: {} });
  return happened;
};

const allows = (revisions: readonly bigint[] | null, { revision }: WebhookEndpoint): boolean =>
  revisions === null || revisions.includes(revision);

export const webhookEndpoint: Decider<
  WebhookEndpointCommand,
  WebhookEndpointEvent,
  WebhookEndpoint,
  WebhookEndpointRejection
> = { initialState: noEndpoint, decide, evolve };
