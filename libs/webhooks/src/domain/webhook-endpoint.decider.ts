import type { Mode } from '#event-sourcing/core/request-context.js';
import {
  assertNever,
  accept,
  ignore,
  reject,
  type Decision,
  type Decider,
} from '#event-sourcing/core/decider.js';
import { instant } from '#event-sourcing/core/clock.js';
import type {
  PublicEventType,
  NoticeType,
  DisabledReason,
  WebhookEndpointEvent,
} from '../contracts/index.js';

interface EndpointSettings {
  readonly url: string;
  readonly events: readonly PublicEventType[];
  readonly modes: readonly Mode[];
  readonly notices: readonly NoticeType[];
  readonly description: string | null;
  readonly headersRef: string | null;
  readonly maxPerSecond: number | null;
  /** Whether the host of the URL needs no probe. */
  readonly verified: boolean;
}

/** What an owner may change. An omitted field stays unchanged; a new URL without `verified` is not verified. */
export type EndpointChanges = Partial<EndpointSettings> & { readonly enabled?: boolean };

type CreateEndpoint = EndpointSettings & {
  readonly type: 'CreateEndpoint';
  readonly workspaceId: string;
  readonly secretRef: string;
};

/** `sees`: the modes of the caller, who is judged by those that the endpoint has when the command is decided. */
export type WebhookEndpointCommand =
  | CreateEndpoint
  | {
      readonly type: 'ChangeEndpoint';
      readonly sees: readonly Mode[];
      readonly changes: EndpointChanges;
      /** Revisions at which the caller allows the change; `null`: any. */
      readonly ifRevision: readonly bigint[] | null;
    }
  /** `at`: milliseconds since the epoch. */
  | {
      readonly type: 'RotateSecret';
      readonly sees: readonly Mode[];
      readonly secretRef: string;
      readonly at: number;
      readonly overlapSeconds: number;
    }
  /** `url`: where the attempt that causes this was sent. */
  | { readonly type: 'DisableEndpoint'; readonly reason: DisabledReason; readonly url: string }
  /** `url`: where the probe was sent. */
  | { readonly type: 'VerifyEndpoint'; readonly url: string }
  | {
      readonly type: 'DeleteEndpoint';
      readonly sees: readonly Mode[];
      readonly ifRevision: readonly bigint[] | null;
    };

/** `ModeNotAllowed`: live receivers depend on the endpoint, and the caller sees test alone. */
export interface WebhookEndpointRejection {
  readonly code: 'EndpointNotFound' | 'ModeNotAllowed' | 'RevisionMismatch';
  readonly details: null;
}

export interface EndpointSecret {
  readonly ref: string;
  /** RFC 3339; `null` for the newest, which does not expire. */
  readonly validUntil: string | null;
}

/** Old secrets that may sign beside the newest. */
const OLD_SECRETS = 2;

export interface WebhookEndpoint extends EndpointSettings {
  readonly existence: 'none' | 'live' | 'deleted';
  readonly workspaceId: string;
  readonly enabled: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly secrets: readonly EndpointSecret[];
  /** Of the last event folded; -1 before the first. */
  readonly revision: bigint;
}

export const noEndpoint: WebhookEndpoint = {
  existence: 'none',
  workspaceId: '',
  url: '',
  events: [],
  modes: [],
  notices: [],
  description: null,
  headersRef: null,
  maxPerSecond: null,
  verified: false,
  enabled: false,
  disabledReason: null,
  secrets: [],
  revision: -1n,
};

export const evolve = (before: WebhookEndpoint, event: WebhookEndpointEvent): WebhookEndpoint => {
  const state = { ...before, revision: before.revision + 1n };
  switch (event.type) {
    case 'WebhookEndpointCreated': {
      const { secretRef, ...settings } = event.data;
      const secrets = [{ ref: secretRef, validUntil: null }];
      return { ...state, existence: 'live', ...settings, secrets, enabled: true };
    }
    case 'WebhookEndpointUpdated':
      return { ...state, ...event.data };
    case 'WebhookEndpointVerified':
      return { ...state, verified: true };
    case 'WebhookEndpointSecretRotated':
      return { ...state, secrets: rotated(state.secrets, event.data) };
    case 'WebhookEndpointDisabled':
      return { ...state, enabled: false, disabledReason: event.data.reason };
    case 'WebhookEndpointEnabled':
      return { ...state, enabled: true, disabledReason: null };
    case 'WebhookEndpointDeleted':
      return { ...state, existence: 'deleted', enabled: false, secrets: [] };
    default:
      return assertNever(event);
  }
};

/** The secrets after a rotation, newest first. If there are too many old ones, those that expire first are dropped. */
export const rotated = (
  [current, ...older]: readonly EndpointSecret[],
  { secretRef: ref, previousValidUntil }: { secretRef: string; previousValidUntil: string },
): readonly EndpointSecret[] => {
  const old = current ? [{ ref: current.ref, validUntil: previousValidUntil }, ...older] : older;
  const kept = old.toSorted((a, b) => endOf(b) - endOf(a)).slice(0, OLD_SECRETS);
  return [{ ref, validUntil: null }, ...old.filter((secret) => kept.includes(secret))];
};

/** References of the secrets that sign at an instant (ms since the epoch), the newest first. */
export const refsInForce = (secrets: readonly EndpointSecret[], at: number): readonly string[] =>
  secrets.filter((secret) => endOf(secret) > at).map(({ ref }) => ref);

const endOf = ({ validUntil }: EndpointSecret): number =>
  validUntil === null ? Infinity : Date.parse(validUntil);

/** Why a caller who sees these modes may not change an endpoint of those; `null`: may. Of no mode of theirs, it does not exist. */
export const refusalTo = (
  sees: readonly Mode[],
  { modes }: Pick<WebhookEndpoint, 'modes'>,
): 'EndpointNotFound' | 'ModeNotAllowed' | null => {
  if (!modes.some((mode) => sees.includes(mode))) return 'EndpointNotFound';
  return modes.includes('live') && !sees.includes('live') ? 'ModeNotAllowed' : null;
};

type EndpointDecision = Decision<WebhookEndpointEvent, WebhookEndpointRejection>;

const decide = (command: WebhookEndpointCommand, state: WebhookEndpoint): EndpointDecision => {
  if (command.type === 'CreateEndpoint') return create(command, state);
  if (state.existence !== 'live') return reject('EndpointNotFound', null);
  const refusal = 'sees' in command ? refusalTo(command.sees, state) : null;
  if (refusal) return reject(refusal, null);
  switch (command.type) {
    case 'ChangeEndpoint': {
      if (!allows(command.ifRevision, state)) return reject('RevisionMismatch', null);
      const events = changeEvents(command.changes, state);
      return events.length > 0 ? accept(...events) : ignore('NothingChanges');
    }
    case 'RotateSecret': {
      if (state.secrets.some(({ ref }) => ref === command.secretRef)) return ignore('AlreadyRotated');
      const { secretRef, at, overlapSeconds } = command;
      const previousValidUntil = instant(at + overlapSeconds * 1_000);
      return accept({ type: 'WebhookEndpointSecretRotated', data: { secretRef, previousValidUntil } });
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

const create = ({ type: _, ...settings }: CreateEndpoint, state: WebhookEndpoint): EndpointDecision =>
  state.existence === 'none'
    ? accept({ type: 'WebhookEndpointCreated', data: withCopies(settings) })
    : ignore('AlreadyCreated');

const withCopies = <T extends Pick<EndpointSettings, 'events' | 'modes' | 'notices'>>(settings: T) => ({
  ...settings,
  events: [...settings.events],
  modes: [...settings.modes],
  notices: [...settings.notices],
});

const settingsOf = (
  { url, events, modes, notices, description, headersRef, maxPerSecond, verified }: WebhookEndpoint,
  { enabled: _, ...changes }: EndpointChanges = {},
) => {
  const settings = { url, events, modes, notices, description, headersRef, maxPerSecond, ...changes };
  // Another URL is not verified by what was said of this one.
  const isVerified = settings.url === url ? verified : (changes.verified ?? false);
  return withCopies({ ...settings, verified: isVerified });
};

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
