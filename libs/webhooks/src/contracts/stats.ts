import { Query } from '#platform/cqrs/message.js';

export const HOUR_MS = 3_600_000;

/** Of an endpoint's health, and of its stats unless somebody asks for others. */
export const RECENT_HOURS = 24;

/** The beginning of the first of so many whole hours (UTC), of which an instant is in the last (ms since the epoch). */
export const firstHour = (at: number, hours = RECENT_HOURS): number =>
  at - (at % HOUR_MS) - (hours - 1) * HOUR_MS;

/** How long successful attempts took, in milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The attempts of a time. */
export interface AttemptFigures {
  /** By outcome: `succeeded`, or the class of failure. */
  readonly attempts: Readonly<Record<string, number>>;
  /** `null`: none succeeded. */
  readonly latencyMs: Latencies | null;
}

export interface HourOfEndpoint extends AttemptFigures {
  /** Its beginning (RFC 3339). */
  readonly hour: string;
}

export interface EndpointStats {
  /** Hours with attempts, oldest first. */
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
