import type { Mode } from '#event-sourcing/core/mode.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import type { DisabledReason, WebhookEndpointEvent } from '../../contracts/events.js';
import { assertNever } from '#event-sourcing/core/decision.js';

export interface EndpointSecret {
  readonly ref: string;
  /** RFC 3339; `null` for the newest, which does not expire. */
  readonly validUntil: string | null;
}

/** Old secrets that may sign beside the newest. */
const OLD_SECRETS = 2;

export interface WebhookEndpoint {
  readonly existence: 'none' | 'live' | 'deleted';
  readonly workspaceId: string;
  readonly url: string;
  readonly events: readonly PublicEventType[];
  readonly modes: readonly Mode[];
  readonly notices: readonly NoticeType[];
  readonly description: string | null;
  readonly headersRef: string | null;
  readonly maxPerSecond: number | null;
  readonly verified: boolean;
  readonly enabled: boolean;
  readonly disabledReason: DisabledReason | null;
  /** Newest first. */
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
      return {
        ...state,
        secrets: rotated(state.secrets, event.data.secretRef, event.data.previousValidUntil),
      };
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
  ref: string,
  previousValidUntil: string,
): readonly EndpointSecret[] => {
  const old = current ? [{ ref: current.ref, validUntil: previousValidUntil }, ...older] : older;
  const kept = old.toSorted((a, b) => endOf(b) - endOf(a)).slice(0, OLD_SECRETS);
  return [{ ref, validUntil: null }, ...old.filter((secret) => kept.includes(secret))];
};

const endOf = ({ validUntil }: EndpointSecret): number =>
  validUntil === null ? Infinity : Date.parse(validUntil);
