import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside } from '@app/event-sourcing/core/event.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import type { BookRefusal, EntryValue } from '../../contracts/corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import {
  adjustmentIdOf,
  repeatedBy,
  type CorrectionState,
} from '../../domain/correction/correction.state.js';
import type { CreditsCommand, CreditsRejection } from '../../domain/credits/credits.commands.js';
import { credits, isBookedBefore } from '../../domain/credits/credits.decider.js';
import { learn, nothingKnown, type KnownEntries } from '../../domain/credits/reversals.js';
import { evolve, noBook, type Credits } from '../../domain/credits/credits.state.js';
import { entryValue } from '../../domain/credits/value.js';
import { BookMoney } from '../../audit/book-money.js';
import { visitStream } from '../audit/read.js';
import { CreditBooks } from '../credit-books.js';

type Command = Extract<CreditsCommand, { type: 'BookCorrection' }>;
type Proposed = CorrectionState['proposed'];
/** What the book is asked, except for what it knows. */
type Asked = Omit<Command, 'known' | 'now'>;

/** All events of a stream are of one workspace or of none. Each proposal of a correction may name other workspaces. */
export const NO_WORKSPACE = '';

/** How often a book is read again when another correction comes first. */
const ATTEMPTS = 5;

/** The entries of a correction in one book: all of them, or those at these positions. */
export const askedOf = (
  {
    proposed,
    proposal,
    approved,
    earlier,
  }: Pick<CorrectionState, 'proposed' | 'proposal' | 'approved' | 'earlier'>,
  workspaceId: string,
  positions: readonly number[],
): Asked => ({
  type: 'BookCorrection',
  correctionId: proposed.correctionId,
  approvedBy: approved?.signedBy.operator ?? proposed.signedBy.operator,
  actor: `operator:${proposed.signedBy.operator}`,
  once: proposed.kind === 'pack_refund',
  entries: positions.flatMap((position) => {
    const signed = proposed.entries[position]!;
    const { workspaceId: own, notBefore: _, ...entry } = signed;
    if (own !== workspaceId) return [];
    const adjustmentId = adjustmentIdOf(proposal, position);
    return [{ ...entry, adjustmentId, repeats: repeatedBy(signed, earlier) }];
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

  /** Refuses entries, also those for later days, that an earlier proposal has booked. Changes nothing. */
  async repeated(workspaceId: string, { entries }: Asked): Promise<BookRefusal | null> {
    if (entries.every(({ repeats }) => !repeats?.length)) return null;
    const book = await this.books.current(workspaceId);
    const isRepeated = book !== null && entries.some((entry) => isBookedBefore(entry, book));
    return isRepeated ? { workspaceId, code: 'booked_before' } : null;
  }

  /**
   * Books the entries. `null`: they are in the book, now or from before. The book must have the same corrections as before
   * `isApproved` was asked. So no other proposal is booked between the answer and these entries.
   *
   * @param isApproved whether both operators still stand by these entries; if not, nothing is booked: `ended`
   */
  async book(
    workspaceId: string,
    asked: Asked,
    isApproved: () => Promise<boolean>,
    by: RequestContext,
  ): Promise<BookRefusal | 'ended' | null> {
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.known(workspaceId, asked);
      if (!(await isApproved())) return 'ended';
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

  private async known(workspaceId: string, asked: Asked): Promise<KnownEntries> {
    if (asked.entries.every(({ reversesEventId }) => reversesEventId === null)) {
      const book = await this.books.current(workspaceId);
      return { ...nothingKnown, corrections: book?.adjustmentIds.length ?? 0 };
    }
    return (await this.read(workspaceId, asked)).known;
  }

  /** The value of an entry follows from the whole book before it. */
  private async read(workspaceId: string, { entries }: Asked): Promise<ReadBook> {
    const ids = new Set(entries.flatMap(({ reversesEventId }) => reversesEventId ?? []));
    for (;;) {
      const [money, values, count] = [new BookMoney(), new Map<string, EntryValue>(), ids.size];
      let [known, state] = [nothingKnown, noBook];
      await visitStream(this.store, streamName(creditsEvents.category, workspaceId), (stored) => {
        if (isSetAside(stored)) return;
        const event = decode(creditsEvents, stored);
        const before = state;
        state = evolve(before, event);
        const used = money.see(event, before, state);
        known = learn(known, event, ids, used);
        if (event.type !== 'CreditsAdjusted') return;
        values.set(event.data.adjustmentId, entryValue(event.data, used));
        // It may share the value of the entry that it names.
        if (ids.has(event.id) && event.data.reversesEventId) ids.add(event.data.reversesEventId);
      });
      if (ids.size === count) return { known, state, money, values };
    }
  }

  /**
   * The value that each entry moves or has moved, by position. None for an entry that its book would not take now.
   * @param now milliseconds
   */
  async values(
    correction: Pick<CorrectionState, 'proposed' | 'proposal' | 'approved' | 'earlier'>,
    now: number,
  ): Promise<ReadonlyMap<number, EntryValue>> {
    const found = new Map<number, EntryValue>();
    const { proposed, proposal } = correction;
    for (const [workspaceId, positions] of byWorkspace(proposed, [...proposed.entries.keys()])) {
      const asked = askedOf(correction, workspaceId, positions);
      const { known, money, values, ...book } = await this.read(workspaceId, asked);
      const decision = credits.decide({ ...asked, known, now }, book.state);
      let before = book.state;
      for (const event of decision.kind === 'accept' ? decision.events : []) {
        const after = evolve(before, event);
        const used = money.see(event, before, after);
        if (event.type === 'CreditsAdjusted')
          values.set(event.data.adjustmentId, entryValue(event.data, used));
        before = after;
      }
      for (const position of positions) {
        const value = values.get(adjustmentIdOf(proposal, position));
        if (value) found.set(position, value);
      }
    }
    return found;
  }
}

interface ReadBook {
  readonly known: KnownEntries;
  readonly state: Credits;
  readonly money: BookMoney;
  /** Of its corrections, by adjustment. */
  readonly values: Map<string, EntryValue>;
}

const refusalOf = (workspaceId: string, rejection: CreditsRejection): BookRefusal => {
  switch (rejection.code) {
    case 'InsufficientCredits':
      return { workspaceId, code: 'insufficient', ...rejection.details };
    case 'NothingToReverse':
      return { workspaceId, code: 'nothing_to_reverse', ...rejection.details };
    case 'ReversalExceeded':
      return { workspaceId, code: 'reversal_exceeded', ...rejection.details };
    case 'TooLarge':
      return { workspaceId, code: 'book_too_large', unit: 'bytes', ...rejection.details };
    case 'BookChanged':
      return { workspaceId, code: 'busy' };
    case 'BookedBefore':
      return { workspaceId, code: 'booked_before' };
    default:
      return { workspaceId, code: 'book_not_open' };
  }
};
