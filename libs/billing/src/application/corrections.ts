import { Inject, Injectable } from '@nestjs/common';
import {
  CommandHandler,
  QueryBus,
  QueryHandler,
  type ICommandHandler,
  type IQueryHandler,
} from '@nestjs/cqrs';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { Clock, TrustedClock } from '#event-sourcing/core/clock.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded } from '#event-sourcing/core/event.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CLOCK, CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { GetReadingSummary } from '#readings/contracts/index.js';
import {
  correctionEvents,
  FindCorrections,
  FindReversible,
  RecordCorrection,
  type Correction,
  type CorrectionResult,
  type EntryValue,
  type ReversibleEntry,
} from '../contracts/corrections.js';
import { bookStream, creditsEvents, type CreditsEvent } from '../contracts/events.js';
import {
  correction as decider,
  creditsOf,
  DOCUMENT_REFUND,
  DOCUMENT_REFUND_ACTOR,
  documentRefund,
  statusAt,
  type CorrectionRejection,
  type CorrectionState,
} from '../domain/correction.decider.js';
import type { CreditsCommand, CreditsRejection } from '../domain/credits.commands.js';
import { credits } from '../domain/credits.decider.js';
import { evolve, noBook } from '../domain/credits.state.js';
import { stateAt } from '../domain/due.js';
import { learn, nothingKnown, entryValue, usedBy } from '../domain/value.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../executors.js';
import type { RefundDocument } from '../processes.js';
import type { Config } from '../settings.js';
import { adjustmentIdOf, refuseSignatures } from '../signatures.js';
import { visitLog, visitStream } from './read.js';
import { CreditBooks } from './credit-books.js';

type Proposed = CorrectionState['proposed'];
type Signed = Pick<CorrectionState, 'proposed' | 'approved'>;
/** What a book is asked, except for what it knows. */
type Asked = Omit<Extract<CreditsCommand, { type: 'BookCorrection' }>, 'known' | 'now'>;

const workspacesOf = ({ entries }: Proposed): string[] => [
  ...new Set(entries.map(({ workspaceId }) => workspaceId)),
];

/** What each book is asked, in the order of the entries. Before an approval, nothing of it can be booked. */
const askedOf = ({ proposed, approved }: Signed): readonly (readonly [workspaceId: string, Asked])[] => {
  const { correctionId, operator, kind } = proposed;
  const entries = proposed.entries.map((entry, position) => {
    const [proposer = '', approver = ''] = [proposed, approved].map((one) => one?.signatures[position]);
    const adjustmentId = adjustmentIdOf(correctionId, position);
    return { ...entry, adjustmentId, signed: { grantId: entry.grantId, proposer, approver } };
  });
  return workspacesOf(proposed).map((workspaceId) => [
    workspaceId,
    {
      type: 'BookCorrection',
      correctionId,
      approvedBy: approved?.operator ?? operator,
      actor: `operator:${operator}`,
      once: kind === 'pack_refund',
      entries: entries.filter((entry) => entry.workspaceId === workspaceId),
    },
  ]);
};

/** Books corrections. The book decides from its own events, which the command brings it where it has forgotten them. */
@Injectable()
export class CorrectionBooks {
  constructor(
    private readonly books: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Books what is approved: in each book all of its entries, or none. @returns what books refused, a sentence each */
  async book(correction: CorrectionState, by: RequestContext): Promise<readonly string[]> {
    const refusals: string[] = [];
    for (const [workspaceId, asked] of askedOf(correction)) {
      const refusal = await this.bookOne(workspaceId, asked, by);
      if (refusal !== null) refusals.push(refusal);
    }
    return refusals;
  }

  /** Books entries in one book. `null`: they are in it, now or from before; otherwise why not. */
  async bookOne(workspaceId: string, asked: Asked, by: RequestContext): Promise<string | null> {
    const { known } = await this.read(workspaceId, asked);
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ ...asked, known, now }),
      `correction:${asked.entries.map(({ adjustmentId }) => adjustmentId).join()}`,
      by,
    );
    return outcome.kind === 'rejected' ? refusedBy(workspaceId, outcome) : null;
  }

  /**
   * The value that each entry moves or has moved, by adjustment; none for an entry that its book would not take now.
   * `refusal`: why the first of such books would not. Changes nothing. @param now milliseconds
   */
  async foresee(
    correction: Signed,
    now: number,
  ): Promise<{ values: ReadonlyMap<string, EntryValue>; refusal: string | null }> {
    const all = new Map<string, EntryValue>();
    let refusal: string | null = null;
    for (const [workspaceId, asked] of askedOf(correction)) {
      const { known, values, ...book } = await this.read(workspaceId, asked);
      let state = stateAt(book.state, now);
      const decision = credits.decide({ ...asked, known, now }, state);
      if (decision.kind === 'reject') refusal ??= refusedBy(workspaceId, decision);
      for (const event of decision.kind === 'accept' ? decision.events : []) {
        if (event.type === 'CreditsAdjusted')
          values.set(event.data.adjustmentId, entryValue(event.data, usedBy(event, state)));
        state = evolve(state, event);
      }
      for (const [adjustmentId, value] of values) all.set(adjustmentId, value);
    }
    return { values: all, refusal };
  }

  /** The value of an entry follows from the whole book before it. `values`: of its corrections, by adjustment. */
  private async read(workspaceId: string, { entries }: Asked) {
    const ids = new Set(entries.flatMap(({ reversesEventId }) => reversesEventId ?? []));
    for (;;) {
      const [count, values] = [ids.size, new Map<string, EntryValue>()];
      let [known, state] = [nothingKnown, noBook];
      await visitStream(this.store, bookStream(workspaceId, true), (stored) => {
        if (isSetAside(stored)) return;
        const event = decode(creditsEvents, stored);
        const used = usedBy(event, state);
        state = evolve(state, event);
        known = learn(known, event, ids, used);
        if (event.type !== 'CreditsAdjusted') return;
        values.set(event.data.adjustmentId, entryValue(event.data, used));
        // It may share the value of the entry that it names.
        if (ids.has(event.id) && event.data.reversesEventId) ids.add(event.data.reversesEventId);
      });
      if (ids.size === count) return { known, state, values };
    }
  }

  /** @param withValues `false`: without the values of its entries, which take a look at whole books */
  async viewOf(state: CorrectionState, now: number, withValues = true): Promise<Correction> {
    const { operator, signatures: _, entries, ...proposed } = state.proposed;
    const booked = new Set<string>();
    for (const workspaceId of workspacesOf(state.proposed))
      for (const id of (await this.books.current(workspaceId))?.adjustmentIds ?? [])
        booked.add(`${workspaceId} ${id}`);
    const { values } = withValues ? await this.foresee(state, now) : { values: null };
    const shown = entries.map((entry, position) => {
      const adjustmentId = adjustmentIdOf(proposed.correctionId, position);
      const isBooked = booked.has(`${entry.workspaceId} ${adjustmentId}`);
      return { ...entry, booked: isBooked, value: values?.get(adjustmentId) ?? null };
    });
    return {
      ...proposed,
      status: state.approved && shown.every((entry) => entry.booked) ? 'booked' : statusAt(state, now),
      credits: creditsOf(state.proposed),
      entries: shown,
      proposedBy: operator,
      approvedBy: state.approved?.operator ?? null,
      rejected: state.rejected?.reason ?? null,
    };
  }
}

const refusedBy = (workspaceId: string, { code, details }: CreditsRejection): string => {
  switch (code) {
    case 'InsufficientCredits':
      return `Workspace ${workspaceId}: only ${details.available} credits are available, not ${details.required}`;
    case 'NothingToReverse':
      return `The book of ${workspaceId} has no entry ${details.eventId} that could be reversed`;
    case 'ReversalExceeded':
      return `Of the entry ${details.eventId}, ${details.original} credits may be reversed; ${details.reversed} are already`;
    case 'TooLarge':
      return `The entries of ${workspaceId} have ${details.size} bytes, and ${details.most} is the most: split it into several corrections, each with a --reference of its own`;
    case 'BookChanged':
      return `The book of ${workspaceId} is busy: repeat the command`;
    default:
      return `Workspace ${workspaceId} has no credit book`;
  }
};

/** Safe to repeat after a crash at any point: the stream and each book know what they have. */
@CommandHandler(RecordCorrection)
export class RecordCorrectionHandler implements ICommandHandler<RecordCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CORRECTION_MAX_CREDITS' | 'OPERATORS'>,
  ) {}

  async execute({ event, by }: RecordCorrection): Promise<CorrectionResult> {
    const at = await this.clock.now();
    const { correctionId } = event.data;
    const { CORRECTION_MAX_CREDITS: maxCredits, OPERATORS: operators } = this.config;
    const command = { event, maxCredits, now: at };
    const { state: before } = await this.executors.correction.load(correctionId);
    let refusal: string | null = null;
    if (event.type === 'CorrectionProposed') {
      const proposal = { proposed: event.data, approved: null };
      refusal = refuseSignatures(proposal, operators);
      if (refusal === null && decider.decide(command, before).kind === 'accept')
        ({ refusal } = await this.books.foresee(proposal, at));
    } else if (event.type === 'CorrectionApproved' && before)
      refusal = refuseSignatures({ ...before, approved: event.data }, operators);
    if (refusal !== null) return { outcome: 'refused', refusal };
    // All events of a stream are of one workspace or of none. The entries of a correction may name several.
    const context = { intent: canonicalJson(event), by, workspaceId: '', at };
    const outcome = await this.executors.correction.execute(correctionId, command, context);
    if (outcome.kind === 'rejected') return { outcome: 'refused', refusal: refusedFor(outcome) };
    const state = outcome.state!;
    if (event.type === 'CorrectionApproved') return this.book(state, at, by);
    const correction = await this.books.viewOf(state, at);
    return { outcome: outcome.kind === 'accepted' ? 'recorded' : 'already', correction, refusals: [] };
  }

  /** The signatures are checked again: anybody with the event store's login can append an approval. */
  private async book(state: CorrectionState, now: number, by: RequestContext): Promise<CorrectionResult> {
    const refusal = refuseSignatures(state, this.config.OPERATORS);
    if (refusal !== null) return { outcome: 'refused', refusal };
    const status = statusAt(state, now);
    const refusals = status === 'approved' ? await this.books.book(state, by) : [];
    const correction = await this.books.viewOf(state, now);
    if (correction.status === 'booked') return { outcome: 'booked', correction, refusals };
    if (status === 'approved') return { outcome: 'incomplete', correction, refusals };
    return { outcome: 'refused', refusal: `The correction is ${status}` };
  }
}

const refusedFor = ({ code, details }: CorrectionRejection): string => {
  switch (code) {
    case 'AboveLimit':
      return `${details.credits} credits are above the limit CORRECTION_MAX_CREDITS, which is ${details.most}`;
    case 'ReferenceInUse':
      return `Another correction has this reference, and is ${details.status}: use another reference`;
    case 'WrongStatus':
      return `The correction is ${details.status}`;
    case 'Unknown':
      return 'There is no such correction: ops corrections list shows them';
  }
};

@QueryHandler(FindCorrections)
export class FindCorrectionsHandler implements IQueryHandler<FindCorrections> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ correctionId }: FindCorrections): Promise<readonly Correction[]> {
    const ids = new Set(correctionId === null ? [] : [correctionId]);
    const only = { categories: [correctionEvents.category] };
    if (correctionId === null)
      await visitLog(this.store, ({ stream }) => void ids.add(streamId(stream)), undefined, only);
    const found = await Promise.all([...ids].reverse().map((id) => this.executors.correction.load(id)));
    const states = found.flatMap(({ state }) => state ?? []);
    const now = this.clock.now();
    return Promise.all(states.map((state) => this.books.viewOf(state, now, correctionId !== null)));
  }
}

@QueryHandler(FindReversible)
export class FindReversibleHandler implements IQueryHandler<FindReversible> {
  constructor(
    private readonly books: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ workspaceId, entry }: FindReversible): Promise<ReversibleEntry | null> {
    const book = await this.books.current(workspaceId);
    if (!book) return null;
    const found: Recorded<CreditsEvent>[] = [];
    let known = nothingKnown;
    await visitStream(this.store, bookStream(workspaceId, true), (stored) => {
      if (isSetAside(stored)) return;
      const event = decode(creditsEvents, stored);
      if (isMeant(event, entry)) found[0] = event;
      known = learn(known, event, new Set(found.map(({ id }) => id)));
    });
    const [one] = found;
    if (!one) return null;
    const { reversible, reversed, grantId } = known.originals[one.id]!;
    const left = book.grants.find((grant) => grant.grantId === grantId);
    const [unused, held] = [left?.remaining ?? 0, left?.held ?? 0];
    const grant = grantId === null ? null : { grantId, credits: Math.abs(reversible), unused, held };
    return { eventId: one.id, type: one.type, reversible, reversed, grant };
  }
}

const isMeant = ({ id, type, data }: Recorded<CreditsEvent>, entry: FindReversible['entry']): boolean => {
  if ('eventId' in entry) return id === entry.eventId;
  return 'readingId' in entry
    ? type === 'CreditsCaptured' && data.readingId === entry.readingId
    : type === 'PackPurchased' && data.orderRef === entry.orderRef && data.pack === entry.pack;
};

/** Reverses the captures of readings without a document, as two operators would. */
@Injectable()
export class DocumentRefunds {
  constructor(
    private readonly queries: QueryBus,
    private readonly books: CorrectionBooks,
  ) {}

  /**
   * Books what operators have not given back yet. Test credits come back with the next fill of their book.
   * @throws Error while the capture is not in the book, or the book refuses: the consumer then tries the event again
   */
  async book({ workspaceId, readingId, failureId, by }: RefundDocument): Promise<void> {
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (!reading) throw new Error(`Reading ${readingId} cannot be found yet`);
    if (!reading.livemode) return;
    const capture = await this.queries.execute(new FindReversible(workspaceId, { readingId }));
    if (!capture) throw new Error(`The credits of reading ${readingId} are not captured yet`);
    const amount = capture.reversible - capture.reversed;
    if (amount === 0) return;
    const entry = documentRefund(readingId, failureId, capture.eventId, amount);
    const asked: Asked = {
      type: 'BookCorrection',
      correctionId: '',
      approvedBy: DOCUMENT_REFUND,
      actor: DOCUMENT_REFUND_ACTOR,
      entries: [{ ...entry, expiresAt: null, grantId: null }],
      once: false,
    };
    const refusal = await this.books.bookOne(workspaceId, asked, by);
    if (refusal !== null) throw new Error(`The credits of reading ${readingId} cannot come back: ${refusal}`);
  }
}
