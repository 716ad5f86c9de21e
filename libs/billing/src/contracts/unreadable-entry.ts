/** An event that a report shows and does not interpret: it cannot be read, or an operator set it aside. */
export interface UnreadableEntry {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: string;
  /** Why it cannot be read; `null` when it could. */
  readonly problem: string | null;
  /** Who decided that readers pass over it, and why. `null`: nobody has, and it is a finding. */
  readonly setAside: { readonly by: string; readonly at: string; readonly reason: string } | null;
}
