import { Inject, Injectable } from '@nestjs/common';
import {
  CommandHandler,
  QueryHandler,
  type ICommandHandler,
  type IQueryHandler,
  QueryBus,
} from '@nestjs/cqrs';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { Clock, TrustedClock } from '#event-sourcing/core/clock.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded } from '#event-sourcing/core/event.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CLOCK, CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
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
  adjustmentIdOf,
  correction as decider,
  statusAt,
  type CorrectionRejection,
  type CorrectionState,
  type Signed,
} from '../domain/correction.js';
import { type CreditsCommand, type CreditsRejection, credits } from '../domain/credits.decider.js';
import { evolve, grantedBy, noBook } from '../domain/credits.state.js';
import { stateAt } from '../domain/due.js';
import { entryValue, Reversals, usedBy, type UsedCredits } from '../domain/value.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../executors.js';
import type { Config } from '../settings.js';
import { refuseSignatures } from '../signatures.js';
import { visitLog } from './read.js';
import { CreditBooks } from './credit-books.js';
import { GetReadingSummary } from '#readings/contracts/index.js';
import { DOCUMENT_REFUND, DOCUMENT_REFUND_ACTOR, documentRefund } from '../domain/document-refund.js';
import type { RefundDocument } from '../processes.js';

/** What a book is asked, except for what it knows. */
export type Asked = Omit<Extract<CreditsCommand, { type: 'BookCorrection' }>, 'known' | 'now'>;

/** What each book is asked, in the order of the entries. Before an approval, nothing of it can be booked. */
const askedOf = ({ proposed, approved }: Signed): ReadonlyMap<string, Asked> => {
  const { correctionId, operator } = proposed;
  const asked = new Map<string, Asked>();
  for (const [position, { workspaceId, ...entry }] of proposed.entries.entries()) {
    const [proposer = '', approver = ''] = [proposed, approved].map((one) => one?.signatures[position]);
    const signed = { grantId: entry.grantId, proposer, approver };
    const own = { ...entry, adjustmentId: adjustmentIdOf(correctionId, position), signed };
    asked.set(workspaceId, {
      type: 'BookCorrection',
      correctionId,
      approvedBy: approved?.operator ?? operator,
      actor: `operator:${operator}`,
      entries: [...(asked.get(workspaceId)?.entries ?? []), own],
    });
  }
  return asked;
};

/** Books corrections. The book decides from its own events, which the command brings it where it has forgotten them. */
@Injectable()
export class CorrectionBooks {
  constructor(
    private readonly books: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Books all entries in one book, or none. `null`: they are in it, now or from before; otherwise why not. */
  async bookOne(workspaceId: string, asked: Asked, by: RequestContext): Promise<string | null> {
    const { known } = await this.read(workspaceId);
    const intent = `correction:${asked.entries.map(({ adjustmentId }) => adjustmentId).join()}`;
    const outcome = await this.books.execute(workspaceId, (now) => ({ ...asked, known, now }), intent, by);
    return outcome.kind === 'rejected' ? refusedBy(workspaceId, outcome) : null;
  }

  /**
   * The value that each entry moves or has moved, by adjustment; none for an entry that its book would not take now.
   * `refusal`: why the first of such books would not. Changes nothing. @param now milliseconds
   */
  async foresee(correction: Signed, now: number) {
    const values = new Map<string, EntryValue>();
    const see = ({ type, data }: CreditsEvent, used: readonly UsedCredits[]): void => {
      if (type === 'CreditsAdjusted') values.set(data.adjustmentId, entryValue(data, used));
    };
    let refusal: string | null = null;
    for (const [workspaceId, asked] of askedOf(correction)) {
      const { known, ...book } = await this.read(workspaceId, see);
      let state = stateAt(book.state, now);
      const decision = credits.decide({ ...asked, known, now }, state);
      if (decision.kind === 'reject') refusal ??= refusedBy(workspaceId, decision);
      for (const event of decision.kind === 'accept' ? decision.events : []) {
        see(event, usedBy(event, state));
        state = evolve(state, event);
      }
    }
    return { values, refusal };
  }

  /** Follows a whole book: what may be reversed, and the value of an entry, follow from all before it. */
  async read(
    workspaceId: string,
    see: (event: Recorded<CreditsEvent>, used: readonly UsedCredits[]) => void = () => undefined,
  ) {
    const known = new Reversals();
    let state = noBook;
    for await (const stored of this.store.read(bookStream(workspaceId, true))) {
      if (isSetAside(stored)) continue;
      const event = decode(creditsEvents, stored);
      const used = usedBy(event, state);
      state = evolve(state, event);
      known.see(event, used);
      see(event, used);
    }
    return { known, state };
  }

  /** @param withValues `false`: without the values of its entries, which take a look at whole books */
  async viewOf(state: CorrectionState, now: number, withValues = true): Promise<Correction> {
    const { operator, signatures: _, entries, ...proposed } = state.proposed;
    const booked = new Set<string>();
    for (const workspaceId of askedOf(state).keys())
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
      credits: entries.reduce((sum, { amount }) => sum + Math.abs(amount), 0),
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

const refused = (refusal: string): CorrectionResult => ({ outcome: 'refused', refusal });

/** Safe to repeat after a crash at any point: the stream and each book know what they have. */
@CommandHandler(RecordCorrection)
export class RecordCorrectionHandler implements ICommandHandler<RecordCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATORS'>,
  ) {}

  async execute({ event, by }: RecordCorrection): Promise<CorrectionResult> {
    const now = await this.clock.now();
    const { OPERATORS: operators } = this.config;
    const { correctionId } = event.data;
    const command = { event, now };
    const { state: before } = await this.executors.correction.load(correctionId);
    let refusal: string | null = null;
    if (event.type === 'CorrectionProposed') {
      const proposal = { proposed: event.data, approved: null };
      refusal = refuseSignatures(proposal, operators);
      if (refusal === null && decider.decide(command, before).kind === 'accept')
        ({ refusal } = await this.books.foresee(proposal, now));
    } else if (event.type === 'CorrectionApproved' && before)
      refusal = refuseSignatures({ ...before, approved: event.data }, operators);
    else if (event.type === 'CorrectionRejected' && before?.approved) {
      const { status } = await this.books.viewOf(before, now, false);
      if (status === 'booked') refusal = 'The correction is booked';
    }
    if (refusal !== null) return refused(refusal);
    // All events of a stream are of one workspace or of none. The entries of a correction may name several.
    const context = { intent: canonicalJson(event), by, workspaceId: '', at: now };
    const outcome = await this.executors.correction.execute(correctionId, command, context);
    if (outcome.kind === 'rejected') return refused(refusedFor(outcome));
    const state = outcome.state!;
    if (event.type === 'CorrectionApproved') return this.book(state, now, by);
    const correction = await this.books.viewOf(state, now);
    return { outcome: outcome.kind === 'accepted' ? 'recorded' : 'already', correction, refusals: [] };
  }

  /** The signatures are checked again: anybody with the event store's login can append an approval. */
  private async book(state: CorrectionState, now: number, by: RequestContext): Promise<CorrectionResult> {
    const refusal = refuseSignatures(state, this.config.OPERATORS);
    if (refusal !== null) return refused(refusal);
    const status = statusAt(state, now);
    const refusals: string[] = [];
    for (const [workspaceId, asked] of status === 'approved' ? askedOf(state) : [])
      refusals.push(...[await this.books.bookOne(workspaceId, asked, by)].filter((one) => one !== null));
    const correction = await this.books.viewOf(state, now);
    if (correction.status === 'booked') return { outcome: 'booked', correction, refusals };
    if (status === 'approved') return { outcome: 'incomplete', correction, refusals };
    return refused(`The correction is ${status}`);
  }
}

const refusedFor = ({ code, details }: CorrectionRejection): string => {
  switch (code) {
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
    const now = this.clock.now();
    const views = found.flatMap(({ state }) =>
      state ? [this.books.viewOf(state, now, correctionId !== null)] : [],
    );
    return Promise.all(views);
  }
}

@QueryHandler(FindReversible)
export class FindReversibleHandler implements IQueryHandler<FindReversible> {
  constructor(
    private readonly credits: CreditBooks,
    private readonly books: CorrectionBooks,
  ) {}

  async execute({ workspaceId, entry }: FindReversible): Promise<ReversibleEntry | null> {
    const book = await this.credits.current(workspaceId);
    const meant: Recorded<CreditsEvent>[] = [];
    const { known } = await this.books.read(workspaceId, (event) => {
      if (isMeant(event, entry)) meant.push(event);
    });
    const found = meant.at(-1);
    if (!book || !found) return null;
    const { id: eventId, type } = found;
    const { reversible, reversed } = known.of(eventId);
    const grantId = grantedBy(found);
    const left = book.grants.find((grant) => grant.grantId === grantId);
    const [unused, held] = [left?.remaining ?? 0, left?.held ?? 0];
    const grant = grantId === null ? null : { grantId, credits: Math.abs(reversible), unused, held };
    return { eventId, type, reversible, reversed, grant };
  }
}

const isMeant = ({ id, type, data }: Recorded<CreditsEvent>, entry: FindReversible['entry']): boolean => {
  if ('eventId' in entry) return id === entry.eventId;
  return 'readingId' in entry
    ? type === 'CreditsCaptured' && data.readingId === entry.readingId
    : type === 'PackPurchased' && data.orderRef === entry.orderRef && data.pack === entry.pack;
};

export const correctionHandlers = [RecordCorrectionHandler, FindCorrectionsHandler, FindReversibleHandler];

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
    };
    const refusal = await this.books.bookOne(workspaceId, asked, by);
    if (refusal !== null) throw new Error(`The credits of reading ${readingId} cannot come back: ${refusal}`);
  }
}
