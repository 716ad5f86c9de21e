/** How the comparison of snapshots with entries went. A snapshot that differs is a finding of its book. */
export interface ComparedSnapshots {
  /** Workspaces with a snapshot that this service did not write, or with another `DIGEST_KEY`. Nothing uses it. */
  readonly foreign: readonly string[];
  /** Why none were compared; `null`: all were. The books count without them. */
  readonly problem: string | null;
}
