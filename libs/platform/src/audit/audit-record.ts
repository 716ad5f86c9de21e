/** One request, or several that were refused alike within a minute. Ids only, nothing personal. */
export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** UUID: the request id without its `req_`. */
  readonly requestId: string;
  readonly requests: number;
  readonly method: string;
  /** The pattern that served it, never the path. */
  readonly route: string;
  /** Of HTTP; 499 when the caller went away before the answer. */
  readonly status: number;
  readonly workspaceId: string | null;
  /** `apiKey:<keyId>`, `user:<subject>` or `bearer`; `null`: nobody was proved. */
  readonly actor: string | null;
  readonly address: string | null;
  readonly readingId: string | null;
  /** The answer held personal data. */
  readonly personal: boolean;
}

/** Requests of which no record was kept. Times in milliseconds since the epoch. */
export interface AuditLoss {
  readonly since: number;
  readonly until: number;
  readonly requests: number;
}
