import { Inject, Injectable } from '@nestjs/common';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside } from '#event-sourcing/core/event.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import type { CorrectionRefusal, EntryValue } from '../../contracts/corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import type { CorrectionState } from '../../domain/correction/correction.decider.js';
import { adjustmentIdOf } from '../../domain/correction/signed-text.js';
import type { CreditsCommand, CreditsRejection } from '../../domain/credits/credits.commands.js';
import { credits } from '../../domain/credits/credits.decider.js';
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

/** All events of a stream are of one workspace or of none. The entries of a correction may name several. */
export const NO_WORKSPACE = '';

/** How often a book is read again when another correction comes first. */
const ATTEMPTS = 5;

/** What each book is asked, in the order of the entries. Before an approval, nothing of it can be booked. */
const askedOf = ({
  proposed,
  approved,
}: Pick<CorrectionState, 'proposed' | 'approved'>): readonly (readonly [string, Asked])[] => {
  const { correctionId, operator, kind } = proposed;
  const workspaces = new Set(proposed.entries.map(({ workspaceId }) => workspaceId));
  return [...workspaces].map((workspaceId) => {
    const entries = proposed.entries.flatMap(({ workspaceId: own, ...entry }, position) => {
      const adjustmentId = adjustmentIdOf(correctionId, position);
      const [proposer = '', approver = ''] = [proposed, approved].map((one) => one?.signatures[position]);
      const signed = { grantId: entry.grantId, proposer, approver };
      return own === workspaceId ? [{ ...entry, adjustmentId, signed }] : [];
    });
    return [
      workspaceId,
      {
        type: 'BookCorrection',
        correctionId,
        approvedBy: approved?.operator ?? operator,
        actor: `operator:${operator}`,
        once: kind === 'pack_refund',
        entries,
      },
    ];
  });
};

/** Books corrections. The book decides from its own events, which the command brings it where it has forgotten them. */
@Injectable()
export class CorrectionBooks {
  constructor(
    private readonly books: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Positions of the entries that are in their books. */
  async booked({ correctionId, entries }: Proposed): Promise<readonly number[]> {
    const workspaces = [...new Set(entries.map(({ workspaceId }) => workspaceId))];
    const books = await Promise.all(workspaces.map((workspaceId) => this.books.current(workspaceId)));
    return entries.flatMap(({ workspaceId }, position) => {
      const book = books[workspaces.indexOf(workspaceId)];
      return book?.adjustmentIds.includes(adjustmentIdOf(correctionId, position)) ? [position] : [];
    });
  }

  /** What a book would refuse of a proposal now; `null`: nothing. Changes nothing. */
  async refusal(proposed: Proposed, now: number): Promise<CorrectionRefusal | null> {
    for (const [workspaceId, asked] of askedOf({ proposed, approved: null })) {
      const book = await this.books.current(workspaceId);
      const known = await this.known(workspaceId, asked);
      const decision = credits.decide({ ...asked, known, now }, book ?? noBook);
      if (decision.kind === 'reject') return refusalOf(workspaceId, decision);
    }
    return null;
  }

  /** Books what is approved: in each book all of its entries, or none. @returns what books refused */
  async book(correction: CorrectionState, by: RequestContext): Promise<readonly CorrectionRefusal[]> {
    const refusals: CorrectionRefusal[] = [];
    for (const [workspaceId, asked] of askedOf(correction)) {
      const refusal = await this.bookOne(workspaceId, asked, by);
      if (refusal) refusals.push(refusal);
    }
    return refusals;
  }

  /** Books entries in one book. `null`: they are in it, now or from before. */
  async bookOne(workspaceId: string, asked: Asked, by: RequestContext): Promise<CorrectionRefusal | null> {
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

  private async known(workspaceId: string, asked: Asked): Promise<KnownEntries> {
    const isReversal = asked.entries.some(({ reversesEventId }) => reversesEventId !== null);
    return isReversal ? (await this.read(workspaceId, asked)).known : nothingKnown;
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
  async values(correction: CorrectionState, now: number): Promise<ReadonlyMap<number, EntryValue>> {
    const found = new Map<number, EntryValue>();
    for (const [workspaceId, asked] of askedOf(correction)) {
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
      for (const position of correction.proposed.entries.keys()) {
        const value = values.get(adjustmentIdOf(correction.proposed.correctionId, position));
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

const refusalOf = (workspaceId: string, rejection: CreditsRejection): CorrectionRefusal => {
  switch (rejection.code) {
    case 'InsufficientCredits': {
      const { available, required } = rejection.details;
      return {
        code: 'insufficient',
        message: `Workspace ${workspaceId}: only ${available} credits are available, not ${required}`,
      };
    }
    case 'NothingToReverse':
      return {
        code: 'nothing_to_reverse',
        message: `The book of ${workspaceId} has no entry ${rejection.details.eventId} that could be reversed`,
      };
    case 'ReversalExceeded': {
      const { eventId, original, reversed } = rejection.details;
      return {
        code: 'reversal_exceeded',
        message: `Of the entry ${eventId}, ${original} credits may be reversed; ${reversed} are already`,
      };
    }
    case 'TooLarge': {
      const { size, most } = rejection.details;
      return {
        code: 'book_too_large',
        message: `The entries of ${workspaceId} have ${size} bytes, and ${most} is the most: split it into several corrections, each with a --reference of its own`,
      };
    }
    case 'BookChanged':
      return { code: 'busy', message: `The book of ${workspaceId} is busy: repeat the command` };
    default:
      return { code: 'book_not_open', message: `Workspace ${workspaceId} has no credit book` };
  }
};
