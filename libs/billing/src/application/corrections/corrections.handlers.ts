import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { Clock } from '#event-sourcing/core/clock.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CLOCK, CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import {
  correctionEvents,
  GetCorrection,
  ListCorrections,
  RecordCorrection,
  type Correction,
  type CorrectionEvent,
  type CorrectionRefusal,
  type CorrectionResult,
  type EntryValue,
} from '../../contracts/corrections.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import {
  correction as decider,
  creditsOf,
  statusAt,
  type CorrectionRejection,
  type CorrectionState,
} from '../../domain/correction/correction.decider.js';
import type { Config, Operator } from '../../settings.js';
import { refuseSignatures } from '../../signatures.js';
import { visitLog } from '../audit/read.js';
import { CorrectionBooks, NO_WORKSPACE } from './correction-books.js';

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
    const now = await this.clock.now();
    const { correctionId } = event.data;
    const { CORRECTION_MAX_CREDITS: maxCredits, OPERATORS: operators } = this.config;
    const command = { event, maxCredits, now };
    const { state: before } = await this.executors.correction.load(correctionId);
    const rejection = unsigned(event, before, operators);
    if (rejection) return { outcome: 'refused', refusal: refusalOf(rejection) };
    if (event.type === 'CorrectionProposed' && decider.decide(command, before).kind === 'accept') {
      const refusal = await this.books.refusal(event.data, now);
      if (refusal) return { outcome: 'refused', refusal };
    }
    const outcome = await this.executors.correction.execute(correctionId, command, {
      intent: canonicalJson(event),
      by,
      workspaceId: NO_WORKSPACE,
      at: now,
    });
    if (outcome.kind === 'rejected') return { outcome: 'refused', refusal: refusalOf(outcome) };
    const state = outcome.state!;
    if (event.type === 'CorrectionApproved') return this.book(state, now, by);
    const correction = await viewOf(this.books, state, now);
    return { outcome: outcome.kind === 'accepted' ? 'recorded' : 'already', correction, refusals: [] };
  }

  /** The signatures are checked again: anybody with the event store's login can append an approval. */
  private async book(
    state: CorrectionState,
    now: number,
    by: RecordCorrection['by'],
  ): Promise<CorrectionResult> {
    const rejection = refuseSignatures(state, this.config.OPERATORS);
    if (rejection) return { outcome: 'refused', refusal: refusalOf(rejection) };
    const status = statusAt(state, now);
    const isOpen = status === 'approved';
    const refusals = isOpen ? await this.books.book(state, by) : [];
    const correction = await viewOf(this.books, state, now);
    if (correction.status === 'booked') return { outcome: 'booked', correction, refusals };
    if (isOpen) return { outcome: 'incomplete', correction, refusals };
    return { outcome: 'refused', refusal: refusalOf({ code: 'WrongStatus', details: { status } }) };
  }
}

/** Why the signatures of a statement do not count; `null`: they do, or it has none. */
const unsigned = (event: CorrectionEvent, state: CorrectionState | null, operators: readonly Operator[]) => {
  if (event.type === 'CorrectionProposed')
    return refuseSignatures({ proposed: event.data, approved: null }, operators);
  return event.type === 'CorrectionApproved' && state
    ? refuseSignatures({ ...state, approved: event.data }, operators)
    : null;
};

@QueryHandler(GetCorrection)
export class GetCorrectionHandler implements IQueryHandler<GetCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ correctionId }: GetCorrection): Promise<Correction | null> {
    const { state } = await this.executors.correction.load(correctionId);
    return state && viewOf(this.books, state, this.clock.now());
  }
}

@QueryHandler(ListCorrections)
export class ListCorrectionsHandler implements IQueryHandler<ListCorrections> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute(_: ListCorrections): Promise<readonly Correction[]> {
    const now = this.clock.now();
    const ids = new Set<string>();
    const only = { categories: [correctionEvents.category] };
    await visitLog(this.store, ({ stream }) => void ids.add(streamId(stream)), undefined, only);
    const found = await Promise.all([...ids].reverse().map((id) => this.executors.correction.load(id)));
    return Promise.all(
      found.flatMap(({ state }) => (state ? [viewOf(this.books, state, now, new Map())] : [])),
    );
  }
}

/** @param values of the entries by position; default: those of the books */
const viewOf = async (
  books: CorrectionBooks,
  state: CorrectionState,
  now: number,
  values?: ReadonlyMap<number, EntryValue>,
): Promise<Correction> => {
  const { operator, signatures: _, entries, ...proposed } = state.proposed;
  const booked = await books.booked(state.proposed);
  const found = values ?? (await books.values(state, now));
  return {
    ...proposed,
    status: state.approved && booked.length === entries.length ? 'booked' : statusAt(state, now),
    credits: creditsOf(state.proposed),
    entries: entries.map((entry, position) => ({
      ...entry,
      booked: booked.includes(position),
      value: found.get(position) ?? null,
    })),
    proposedBy: operator,
    approvedBy: state.approved?.operator ?? null,
    rejected: state.rejected?.reason ?? null,
  };
};

type AnyRejection = CorrectionRejection | NonNullable<ReturnType<typeof refuseSignatures>>;

const refusalOf = ({ code, details }: AnyRejection): CorrectionRefusal => {
  switch (code) {
    case 'AboveLimit':
      return {
        code: 'above_limit',
        message: `${details.credits} credits are above the limit CORRECTION_MAX_CREDITS, which is ${details.most}`,
      };
    case 'TooLarge':
      return {
        code: 'too_large',
        message: `It has ${details.size} ${details.unit}, and ${details.most} is the most: split it into several corrections, each with a --reference of its own`,
      };
    case 'NotOperator':
      return {
        code: 'not_operator',
        message: `${details.operator} has no active key in OPERATORS`,
      };
    case 'BadSignature':
      return {
        code: 'bad_signature',
        message: `The signature of ${details.operator} does not fit`,
      };
    case 'SamePerson':
      return {
        code: 'same_person',
        message: `${details.operator} proposed it: another person must approve it`,
      };
    case 'ReferenceInUse':
      return {
        code: 'reference_in_use',
        message: `Another correction has this reference, and is ${details.status}: use another reference`,
      };
    case 'WrongStatus':
      return { code: 'wrong_status', message: `The correction is ${details.status}` };
    case 'Unknown':
      return { code: 'unknown', message: 'There is no such correction: ops corrections list shows them' };
  }
};
