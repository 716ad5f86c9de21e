import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { uuidFromHash } from '#event-sourcing/core/event-id.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { Digester } from '#platform/crypto/digest.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { BOOK_UNREADABLE, ReserveCredits } from '../../contracts/ports/index.js';
import type { Requested } from '../../domain/reading/reading.state.js';
import { readingView, type ReadingInput } from '../../domain/reading/reading-view.js';
import { requestedFields } from '../../domain/reading/requested-fields.js';
import { externalIdLookup } from '../../external-id.js';
import { reservationIdAt } from '../reservation-id.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';
import { foldReading } from '../../read-models/reading/reading-row.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';
import { sealInput, openInput } from '../../sealed-reading.js';
import { RequestReading, type ReadingRequest, type RequestReadingResult } from './request-reading.command.js';
import type { Config } from '../../settings.js';

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
    const reserved =
      held?.reservationId !== reservationId
        ? await this.commands.execute(
            new ReserveCredits(workspaceId, readingId, reservationId, request.productId, livemode, by),
          )
        : ({ outcome: 'reserved', amount: held.amount } as const);
    if (reserved.outcome === 'misconfigured')
      return {
        outcome: 'billing_misconfigured',
        ...(reserved.reason === BOOK_UNREADABLE && { detail: BOOK_UNREADABLE }),
      };
    if (reserved.outcome === 'settled') return 'again';
    if (reserved.outcome === 'insufficient') {
      return { outcome: 'insufficient_credits', required: reserved.required, available: reserved.available };
    }
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
          cost: reserved.amount,
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
    return { outcome: 'accepted', reading: readingView(foldReading(outcome.events)!.record, request.input) };
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
    const { record } = found;
    if (record.status === 'failed') return { outcome: 'replayed', reading: readingView(record, input) };
    const accepted = {
      ...record,
      status: 'queued',
      updatedAt: record.createdAt,
      completedAt: null,
      erasedAt: null,
      failure: null,
      document: null,
    } as const;
    return { outcome: 'replayed', reading: readingView(accepted, input) };
  }
}

const NOTHING = { state: { status: 'none', abandoned: [], erased: false }, revision: 'no_stream' } as const;
