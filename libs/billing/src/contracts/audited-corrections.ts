/** A statement of an operator that does not count, or an entry that no two operators signed. */
export interface CorrectionFinding {
  readonly stream: string;
  readonly revision: bigint;
  /** One sentence. */
  readonly message: string;
}

/** An entry that no two operators signed, and that signed corrections took back completely. It is no finding. */
export interface CompensatedEntry extends CorrectionFinding {
  /** Id of the correction that took back the last of it. */
  readonly compensatedBy: string;
}

/** In the order of the log. */
export type AuditedCorrections = readonly CorrectionFinding[];
