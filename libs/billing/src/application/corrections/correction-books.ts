import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside } from '@app/event-sourcing/core/event.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import type { BookRefusal } from '../../contracts/corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import { adjustmentIdOf, type CorrectionState } from '../../domain/correction/correction.state.js';
import type { CreditsCommand, CreditsRejection } from '../../domain/credits/credits.commands.js';
import { credits } from '../../domain/credits/credits.decider.js';
import { learn, nothingKnown, type KnownEntries } from '../../domain/credits/reversals.js';
import { visitStream } from '../audit/read.js';
import { CreditBooks } from '../credit-books.js';

type Command = Extract<CreditsCommand, { type: 'BookCorrection' }>;
type Proposed = CorrectionState['proposed'];
/** What the book is asked, except for what it knows. */
type Asked = Omit<Command, 'known' | 'now'>;

/** How often a book is read again when another correction comes first. */
const ATTEMPTS = 5;

/** The entries of a correction in one book: all of them, or those at these positions. */
export const askedOf = (
  { proposed, proposal, approved }: Pick<CorrectionState, 'proposed' | 'proposal' | 'approved'>,
  workspaceId: string,
  positions: readonly number[],
): Asked => ({
  type: 'BookCorrection',
  correctionId: proposed.correctionId,
  approvedBy: approved?.signedBy.operator ?? proposed.signedBy.operator,
  actor: `operator:${proposed.signedBy.operator}`,
  once: proposed.kind === 'pack_refund',
  entries: positions.flatMap((position) => {
    const { workspaceId: own, notBefore: _, ...entry } = proposed.entries[position]!;
    return own === workspaceId ? [{ ...entry, adjustmentId: adjustmentIdOf(proposal, position) }] : [];
  }),
});

/** Positions by workspace, in the order of the entries. */
export const byWorkspace = (
  { entries }: Proposed,
  positions: readonly number[],
): Map<string, readonly number[]> => {
  const groups = new Map<string, readonly number[]>();
  for (const position of positions) {
    const { workspaceId } = entries[position]!;
    groups.set(workspaceId, [...(groups.get(workspaceId) ?? []), position]);
  }
  return groups;
};

/** Books corrections. The book decides from its own events, which the command brings it where it has forgotten them. */
@Injectable()
export class CorrectionBooks {
  constructor(
    private readonly books: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Positions of the entries that are in their books. What the stream of a correction says of them proves nothing. */
  async booked({ proposed, proposal }: Pick<CorrectionState, 'proposed' | 'proposal'>): Promise<number[]> {
    const workspaces = [...new Set(proposed.entries.map(({ workspaceId }) => workspaceId))];
    const books = await Promise.all(workspaces.map((workspaceId) => this.books.current(workspaceId)));
    return proposed.entries.flatMap(({ workspaceId }, position) => {
      const book = books[workspaces.indexOf(workspaceId)];
      return book?.adjustmentIds.includes(adjustmentIdOf(proposal, position)) ? [position] : [];
    });
  }

  /** What the book would refuse now; `null`: nothing. Changes nothing. */
  async refusal(workspaceId: string, asked: Asked, now: number): Promise<BookRefusal | null> {
    const book = await this.books.current(workspaceId);
    if (!book) return { workspaceId, code: 'book_not_open' };
    const known = await this.known(workspaceId, asked);
    const decision = credits.decide({ ...asked, known, now }, book);
    return decision.kind === 'reject' ? refusalOf(workspaceId, decision) : null;
  }

  /** Books the entries. `null`: they are in the book, now or from before. */
  async book(workspaceId: string, asked: Asked, by: RequestContext): Promise<BookRefusal | null> {
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.known(workspaceId, asked);
      const outcome = await this.books.execute(
        workspaceId,
        (now) => ({ ...asked, known, now }),
        `correction:${asked.entries.map(({ adjustmentId }) => adjustmentId).join()}`,
        by,
      );
      if (outcome.kind !== 'rejected') return null;
      if (outcome.code !== 'BookChanged' || attempt >= ATTEMPTS) return refusalOf(workspaceId, outcome);
    }
  }

  private async known(workspaceId: string, { entries }: Asked): Promise<KnownEntries> {
    const ids = new Set(entries.flatMap(({ reversesEventId }) => reversesEventId ?? []));
    let known = nothingKnown;
    if (ids.size === 0) return known;
    await visitStream(this.store, streamName(creditsEvents.category, workspaceId), (stored) => {
      if (!isSetAside(stored)) known = learn(known, decode(creditsEvents, stored), ids);
    });
    return known;
  }
}

const refusalOf = (workspaceId: string, rejection: CreditsRejection): BookRefusal => {
  switch (rejection.code) {
    case 'InsufficientCredits':
      return { workspaceId, code: 'insufficient', ...rejection.details };
    case 'NothingToReverse':
      return { workspaceId, code: 'nothing_to_reverse', ...rejection.details };
    case 'ReversalExceeded':
      return { workspaceId, code: 'reversal_exceeded', ...rejection.details };
    case 'BookChanged':
      return { workspaceId, code: 'busy' };
    default:
      return { workspaceId, code: 'book_not_open' };
  }
};
