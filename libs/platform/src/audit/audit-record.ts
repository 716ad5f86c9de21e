/** One request, or several similar refusals within a minute. Only ids, no personal data. */
export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** UUID: the request id without its `req_`. */
  readonly requestId: string;
  readonly requests: number;
  /** Of HTTP; `OPS` for a command of an operator, whose name is the route. */
  readonly method: string;
  /** The pattern of the route, never the path. */
  readonly route: string;
  /** HTTP status; 499 when the caller disconnected before the answer. */
  readonly status: number;
  readonly workspaceId: string | null;
  /** `apiKey:<keyId>`, `user:<subject>`, `bearer`, `link:<linkId>` or `operator:<name>`; `null` when no caller was authenticated. */
  readonly actor: string | null;
  readonly address: string | null;
  readonly readingId: string | null;
  /** Whether the answer contained personal data. */
  readonly personal: boolean;
}

/** Requests without a record. Times in milliseconds since the epoch. */
export interface AuditLoss {
  readonly since: number;
  readonly until: number;
  readonly requests: number;
}
