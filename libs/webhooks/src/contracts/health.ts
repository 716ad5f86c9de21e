/** How the queue of an endpoint fares. */
export interface QueueHealthRecord {
  readonly pending: number;
  /** Seconds that the longest due delivery has been waiting; 0 when none is due. */
  readonly queueAgeSeconds: number;
  /** When the next attempt is due (RFC 3339); `null`: nothing is pending. */
  readonly nextAttemptAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Attempts of the last 24 hours by how they ended: `succeeded`, or the class of failure. */
  readonly attempts: Readonly<Record<string, number>>;
}
