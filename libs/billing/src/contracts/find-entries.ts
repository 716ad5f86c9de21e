import { Query } from '#platform/cqrs/message.js';
import type { Progress } from './audit.js';

/** An entry that carries a reference. */
export interface FoundEntry {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly revision: bigint;
  /** The type of a credits event; any text for an entry that is not interpreted. */
  readonly type: string;
  readonly occurredAt: string;
  /** Signed; 0 for a subscription. */
  readonly credits: number;
  /** Of a correction. */
  readonly reason: string | null;
  readonly actor: string;
  /** Of a correction: who approved it, and its id. */
  readonly approvedBy: string | null;
  readonly correctionId: string | null;
  /** Of an entry that moves nothing: it cannot be read, or it is set aside. One sentence. */
  readonly unreadable?: string;
}

/** Entries of all books with a reference, or with the id of a correction: packs by their order, plans by their approval. */
export class FindLedgerEntries extends Query<readonly FoundEntry[]> {
  constructor(
    readonly reference: string,
    readonly progress?: Progress,
  ) {
    super();
  }
}
