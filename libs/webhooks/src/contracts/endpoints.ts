import type { Mode, RequestContext } from '#event-sourcing/core/request-context.js';
import { Command, Query } from '#platform/cqrs/message.js';
import type { DisabledReason, PublicEventType, NoticeType } from './events.js';
import type { ChangeRefusal, EndpointLimitReached, UrlRefusal } from './refusals.js';

/** An endpoint as callers see it. Instants are RFC 3339 UTC with milliseconds. */
export interface WebhookEndpointRecord {
  /** `we_` and a version 4 UUID. */
  readonly endpointId: string;
  readonly url: string;
  readonly events: readonly PublicEventType[];
  readonly modes: readonly Mode[];
  readonly notices: readonly NoticeType[];
  readonly enabled: boolean;
  readonly description: string | null;
  /** Names of the custom headers of its deliveries, in lower case. Their values are never shown. */
  readonly headerNames: readonly string[];
  /** Deliveries sent in a second, at most; `null`: no limit of its own. */
  readonly maxPerSecond: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly health: {
    /** `unverified`: its deliveries wait until it has answered a probe. */
    readonly state: 'ok' | 'failing' | 'disabled' | 'unverified';
    readonly failingSince: string | null;
    readonly disabledReason: DisabledReason | null;
    readonly consecutiveFailures: number;
  };
  /** The newest secret's last four characters, to identify it. */
  readonly secretHint: string;
}

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  readonly signingSecret: string;
}

export type CreateEndpointResult =
  | { readonly outcome: 'created'; readonly endpoint: CreatedWebhookEndpoint }
  | UrlRefusal
  | EndpointLimitReached;

/** What a new endpoint is to receive, and how. */
export interface EndpointChoice {
  readonly url: string;
  /** `null` subscribes to all. */
  readonly events: readonly PublicEventType[] | null;
  readonly modes: readonly Mode[];
  readonly notices?: readonly NoticeType[];
  readonly description?: string | null;
  /** Sent with each delivery, values by name; stored sealed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxPerSecond?: number | null;
}

export interface EnabledWebhookEndpoint {
  readonly outcome: 'enabled';
  readonly record: WebhookEndpointRecord;
  /** Deliveries skipped while it was disabled; `null` when it was already enabled. */
  readonly skippedDeliveries: number | null;
}

/** Enables an endpoint; sends nothing by itself. */
export class EnableWebhookEndpoint extends Command<EnabledWebhookEndpoint | ChangeRefusal> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** The state of an endpoint's queue. */
export interface QueueHealthRecord {
  readonly pending: number;
  /** Seconds that the oldest due delivery has been waiting; 0 when none is due. */
  readonly queueAgeSeconds: number;
  /** When the next attempt is due (RFC 3339); `null`: nothing is pending. */
  readonly nextAttemptAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Attempts of this hour (UTC) and the 23 before it by result: `succeeded`, or the class of error. */
  readonly attempts: Readonly<Record<string, number>>;
}

export interface EndpointHealth extends QueueHealthRecord {
  readonly endpoint: WebhookEndpointRecord;
  readonly workspaceId: string;
  /** Until then (RFC 3339), deliveries also carry the signature of an old secret; `null`: of none. May be past. */
  readonly oldSecretsValidUntil: string | null;
}

/** The endpoints of one workspace, or this one, or (`null`) all, with their health; the longest waiting first. */
export class ListWebhookEndpoints extends Query<readonly EndpointHealth[]> {
  constructor(
    readonly workspaceId: string | null,
    readonly endpointId: string | null = null,
  ) {
    super();
  }
}

export const HOUR_MS = 3_600_000;

/** Of an endpoint's health, and of its stats unless somebody asks for others. */
export const RECENT_HOURS = 24;

/** The beginning of the first of so many whole hours (UTC), of which an instant is in the last (ms since the epoch). */
export const firstHour = (at: number, hours = RECENT_HOURS): number =>
  at - (at % HOUR_MS) - (hours - 1) * HOUR_MS;

export interface Latencies {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface AttemptFigures {
  /** By outcome: `succeeded`, or the class of failure. */
  readonly attempts: Readonly<Record<string, number>>;
  /** `null`: none succeeded. */
  readonly latencyMs: Latencies | null;
}

export interface HourOfEndpoint extends AttemptFigures {
  readonly hour: string;
}

export interface EndpointStats {
  readonly hours: readonly HourOfEndpoint[];
  readonly total: AttemptFigures;
}

/** The attempts of the hours that begin from `since` and before `until` (RFC 3339). */
export class GetEndpointStats extends Query<EndpointStats> {
  constructor(
    readonly endpointId: string,
    readonly since: string,
    readonly until: string,
  ) {
    super();
  }
}

/** What is known of the probes of an endpoint that is not verified. */
export interface VerificationRecord {
  /** Since when it waits (RFC 3339). */
  readonly askedAt: string;
  readonly attempts: number;
  /** When the next probe is due (RFC 3339). */
  readonly nextProbeAt: string;
  /** Class of failure of the last probe; `null`: none has failed. */
  readonly lastError: string | null;
}

/** The probes of an endpoint; `null`: it needs none. */
export class FindVerification extends Query<VerificationRecord | null> {
  constructor(readonly endpointId: string) {
    super();
  }
}

/** How many signing secrets and custom headers each key-encryption key sealed, by the key's id. */
export class CountSecretsByKey extends Query<ReadonlyMap<string, number>> {}

export interface RewrappedSecrets {
  readonly rewrapped: number;
  /** References of those that no configured key opens. They stay unchanged. */
  readonly unopened: readonly string[];
}

/** Seals signing secrets and custom headers with the current key-encryption key if another one sealed them. */
export class RewrapSecrets extends Command<RewrappedSecrets> {
  /** @param onProgress receives the number processed so far, of secrets and then of headers */
  constructor(readonly onProgress: (seen: number) => void = () => undefined) {
    super();
  }
}
