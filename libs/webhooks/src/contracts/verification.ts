import { Query } from '#platform/cqrs/message.js';

/** What is known of the probes of an endpoint that is not verified. */
export interface VerificationRecord {
  /** Since when it waits (RFC 3339). */
  readonly askedAt: string;
  /** Probes sent since then. */
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
