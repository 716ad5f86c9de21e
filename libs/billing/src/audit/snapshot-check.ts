import { hash } from 'node:crypto';
import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { Loaded } from '@app/event-sourcing/handling/folded.js';
import type { Credits } from '../domain/credits/credits.state.js';

/** What a snapshot says of a book, few enough bytes to remember one for each book of the log. */
export interface SnapshotMark {
  /** Of the last entry that the snapshot contains. */
  readonly revision: bigint;
  readonly chain: string;
  readonly digest: string;
}

export const ANOTHER_BOOK =
  'a snapshot says otherwise than the entries up to here: processes that start from it decide by a wrong book';

/** `null`: a snapshot of an empty book, which nobody takes. */
export const markOf = ({ revision, chain, state }: Loaded<Credits>): SnapshotMark | null =>
  revision === 'no_stream' ? null : { revision, chain, digest: digestOf(state) };

/**
 * Whether a snapshot that processes would start from has another book than its entries make. One with another chain value
 * is from before the event store was set back: nobody uses it.
 * @param book `null`: something else was found in it
 */
export const isAnotherBook = (
  mark: SnapshotMark,
  book: { readonly state: Credits; readonly chain: string } | null,
): boolean => book !== null && mark.chain === book.chain && mark.digest !== digestOf(book.state);

const digestOf = (state: Credits): string => hash('sha256', canonicalJson(state), 'hex');
