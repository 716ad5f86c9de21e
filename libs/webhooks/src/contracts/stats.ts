import { Query } from '@app/platform/cqrs/message.js';

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
