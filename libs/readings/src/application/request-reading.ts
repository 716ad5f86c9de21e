import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { uuid5, uuidFromHash } from '#event-sourcing/core/event-id.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { Command } from '#platform/cqrs/message.js';
import { Digester } from '#platform/crypto/digest.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { BOOK_UNREADABLE, ReserveCredits, type ReserveResult } from '../contracts/ports.js';
import { type ReadingInput, type RequestedFields, requestedFields } from '../domain/reading-input.js';
import type { Requested } from '../domain/reading.decider.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../executors.js';
import { foldReading, readingView, type ReadingView } from '../projections.js';
import { ReadingQuery } from '../read-models/reading.query.js';
import { externalIdLookup, openInput, sealInput } from '../sealed-reading.js';
import type { Config } from '../settings.js';
import { setTimeout as delay } from 'node:timers/promises';
import { PrepareTrialReading, type TrialReadingResult } from '../contracts/messages.js';

export interface ReadingRequest extends RequestedFields {
  readonly input: ReadingInput;
}

/** Why nothing is reserved. */
export type Unpaid =
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number }
  /** `detail` is for the caller. */
  | { readonly outcome: 'billing_misconfigured'; readonly detail?: string };

export const unpaidOf = (refused: Exclude<ReserveResult, { outcome: 'reserved' }>): Unpaid => {
  if (refused.outcome === 'insufficient') return { ...refused, outcome: 'insufficient_credits' };
  const detail = refused.reason === BOOK_UNREADABLE && { detail: BOOK_UNREADABLE };
  return { outcome: 'billing_misconfigured', ...detail };
};

/** `replayed`: this Idempotency-Key already accepted the same request. */
export type RequestReadingResult =
  | { readonly outcome: 'accepted' | 'replayed'; readonly reading: ReadingView }
  | { readonly outcome: 'different_request' }
  /** The reading of this Idempotency-Key was erased. Its input can no longer be compared. */
  | { readonly outcome: 'erased' }
  | Unpaid;

/** Accepts a reading, live or test: seals the input, holds its credits, records the request. @throws StoreUnavailable */
export class RequestReading extends Command<RequestReadingResult> {
  constructor(
    readonly workspaceId: string,
    readonly livemode: boolean,
    readonly request: ReadingRequest,
    readonly idempotencyKey: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * The reservation of a request that found a reading's stream at this revision. A released reservation is never reused.
 */
export const reservationIdAt = (readingId: string, revision: ExpectedRevision): string =>
  uuid5(readingId, 'reservation', String(revision));

/** Every reservation that requests can have made for a reading whose stream is now at this revision. */
export const reservationIdsUpTo = (readingId: string, revision: ExpectedRevision): readonly string[] => [
  reservationIdAt(readingId, 'no_stream'),
  ...(revision === 'no_stream'
    ? []
    : Array.from({ length: Number(revision) + 1 }, (_, at) => reservationIdAt(readingId, BigInt(at)))),
];

/** A reservation can be fenced while its request is still running. Each round takes a new one. */
const ROUNDS = 3;

interface HeldReservation {
  readonly reservationId: string;
  /** Credits. */
  readonly amount: number;
}

type AskedReading = Pick<RequestReading, 'workspaceId' | 'livemode' | 'request' | 'by'>;

@CommandHandler(RequestReading)
export class RequestReadingHandler implements ICommandHandler<RequestReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'ENQUEUE_TIMEOUT_MS'>,
    private readonly commands: CommandBus,
    private readonly digester: Digester,
    private readonly keys: SubjectKeys,
    private readonly readings: ReadingQuery,
  ) {}

  /** Answers within ENQUEUE_TIMEOUT_MS. After that no further step starts, and an existing hold is fenced later. */
  execute(command: RequestReading): Promise<RequestReadingResult> {
    return withDeadline(
      this.config.ENQUEUE_TIMEOUT_MS,
      (givenUp) => this.request(command, givenUp),
      () => {
        throw new StoreUnavailable('The request was not accepted in time', true);
      },
    );
  }

  private request(command: RequestReading, givenUp: AbortSignal): Promise<RequestReadingResult> {
    const { workspaceId, livemode, idempotencyKey } = command;
    // Each mode has Idempotency-Keys of its own.
    const purpose = livemode ? 'reading-id' : 'test-reading-id';
    const readingId =
      idempotencyKey === null
        ? randomUUID()
        : uuidFromHash(this.digester.digest(purpose, workspaceId, idempotencyKey));
    return this.accept(command, readingId, { isNew: idempotencyKey === null, held: null }, givenUp);
  }

  /** Answers as the reading under this id was answered before; `null`: it was not. */
  async answered(readingId: string, request: ReadingRequest): Promise<RequestReadingResult | null> {
    const { state } = await this.executor.load(readingId);
    if (state.status !== 'none') return this.repeat(readingId, state, request);
    return state.erased ? { outcome: 'erased' } : null;
  }

  /**
   * Accepts the reading under this id, or answers as it was answered before.
   * @param known isNew: no request has had the id before; held: a reservation of it that is open already
   */
  async accept(
    command: AskedReading,
    readingId: string,
    known: { readonly isNew: boolean; readonly held: HeldReservation | null },
    givenUp: AbortSignal,
  ): Promise<RequestReadingResult> {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const seen = known.isNew && round === 1 ? NOTHING : await this.executor.load(readingId);
      if (seen.state.status === 'none' && seen.state.erased) return { outcome: 'erased' };
      if (seen.state.status !== 'none') return this.repeat(readingId, seen.state, command.request);
      const result = await this.attempt(command, readingId, seen.revision, known.held, givenUp);
      if (result !== 'again') return result;
    }
    throw new StoreUnavailable('Every reservation of the request was abandoned', false);
  }

  /**
   * One round: first the hold, then the key, then the request. A refused request stores no key. A crash in between
   * leaves a hold that is later released, and then a key that `KeySweep` deletes.
   */
  private async attempt(
    { workspaceId, livemode, request, by }: AskedReading,
    readingId: string,
    revision: ExpectedRevision,
    held: HeldReservation | null,
    givenUp: AbortSignal,
  ): Promise<RequestReadingResult | 'again'> {
    // The key store may be unavailable. Then nothing is held either.
    await this.keys.ready();
    givenUp.throwIfAborted();
    const reservationId = reservationIdAt(readingId, revision);
    const asked = { reservations: [{ reservationId, readingId }], all: true };
    const reserved =
      held?.reservationId === reservationId
        ? { outcome: 'reserved' as const, amounts: new Map([[reservationId, held.amount]]) }
        : await this.commands.execute(
            new ReserveCredits(workspaceId, asked, request.productId, livemode, by),
          );
    if (reserved.outcome !== 'reserved') return unpaidOf(reserved);
    const cost = reserved.amounts.get(reservationId);
    // It was settled before.
    if (cost === undefined) return 'again';
    givenUp.throwIfAborted();
    const { externalId } = request.input;
    const lookup = externalId === undefined ? null : externalIdLookup(this.digester, workspaceId, externalId);
    const key = await this.keys.create(readingId, workspaceId, lookup);
    givenUp.throwIfAborted();
    const at = this.clock.now();
    const occurredAt = instant(at);
    const outcome = await this.executor.execute(
      readingId,
      {
        type: 'RequestReading',
        request: {
          workspaceId,
          livemode,
          ...requestedFields(request),
          asOf: occurredAt.slice(0, 10),
          sealedInput: sealInput(key, request.input),
          cost,
          reservationId,
        },
      },
      { intent: `request:${by.correlationId}`, by, workspaceId, at },
      { fresh: revision === 'no_stream' },
    );
    if (outcome.kind === 'ignored') {
      const first = outcome.state as Requested;
      // The reading was accepted and erased while this request ran: no reading uses the key it has made.
      if (first.erased) await this.keys.destroy(readingId);
      return this.repeat(readingId, first, request);
    }
    if (outcome.kind === 'rejected') return outcome.code === 'Erased' ? { outcome: 'erased' } : 'again';
    return { outcome: 'accepted', reading: readingView(foldReading(outcome.events)!, request.input) };
  }

  /**
   * Answers a request under an Idempotency-Key that already has a reading. Only the reading's own key can open the
   * input to compare with. Once that key is destroyed, every request gets the same answer.
   */
  private async repeat(
    readingId: string,
    { request: first, erased }: Requested,
    request: ReadingRequest,
  ): Promise<RequestReadingResult> {
    const key = erased ? null : await this.keys.find(readingId);
    if (!key) return { outcome: 'erased' };
    const input = openInput(key, first.sealedInput);
    return canonicalJson({ ...requestedFields(first), input }) === canonicalJson(request)
      ? this.replay(readingId, input)
      : { outcome: 'different_request' };
  }

  /**
   * Repeats the first answer: the reading as it was accepted, whatever its status is now. Only a failed one is shown as
   * it is, because the caller would otherwise wait for a reading that never comes.
   */
  private async replay(readingId: string, input: ReadingInput): Promise<RequestReadingResult> {
    const found = await this.readings.find(readingId);
    if (!found) throw new StoreUnavailable('The accepted reading cannot be read right now', false);
    if (found.status === 'failed') return { outcome: 'replayed', reading: readingView(found, input) };
    const accepted = {
      ...found,
      status: 'queued',
      updated_at: found.created_at,
      completed_at: null,
      erased_at: null,
      error_code: null,
      document_version: null,
    } as const;
    return { outcome: 'replayed', reading: readingView(accepted, input) };
  }
}

const NOTHING = { state: { status: 'none', abandoned: [], erased: false }, revision: 'no_stream' } as const;

/** How long a caller waits for a new test reading, and how often it is looked up (ms). */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/** Nobody. */
const INVENTED: ReadingRequest = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'en-US',
  input: {
    name: { firstNames: ['Ada'], middleNames: ['May'], lastNames: ['Example'] },
    dateOfBirth: '1990-04-12',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
};

@CommandHandler(PrepareTrialReading)
export class PrepareTrialReadingHandler implements ICommandHandler<PrepareTrialReading> {
  constructor(
    private readonly commands: CommandBus,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly readings: ReadingQuery,
  ) {}

  async execute({ workspaceId, by }: PrepareTrialReading): Promise<TrialReadingResult> {
    const known = await this.newest(workspaceId);
    if (known) return known;
    // Requests at the same time share a reading. One that failed is not asked for again in the next hour.
    const key = `trial-reading:${instant(this.clock.now()).slice(0, 13)}`;
    const request = (idempotencyKey: string | null) =>
      this.commands.execute(new RequestReading(workspaceId, false, INVENTED, idempotencyKey, by));
    let requested = await request(key);
    if (requested.outcome === 'erased' || requested.outcome === 'different_request')
      requested = await request(null);
    if (requested.outcome === 'insufficient_credits') return requested;
    if (requested.outcome === 'billing_misconfigured') return { outcome: 'billing_misconfigured' };
    const givesUpAt = performance.now() + WAIT_MS;
    while (performance.now() < givesUpAt) {
      const made = await this.newest(workspaceId);
      if (made) return made;
      await delay(LOOK_AGAIN_MS);
    }
    return { outcome: 'not_ready' };
  }

  private async newest(workspaceId: string): Promise<TrialReadingResult | null> {
    const row = await this.readings.newestPublishedTest(workspaceId);
    if (!row) return null;
    const { artifactId, version, publishedAt } = readingView(row, null).document;
    return artifactId !== null && version !== null && publishedAt !== null
      ? { outcome: 'ready', readingId: row.reading_id, document: { version, artifactId, publishedAt } }
      : null;
  }
}
