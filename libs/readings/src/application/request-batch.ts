import { Inject, Optional } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type { Clock } from '#event-sourcing/core/clock.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { sharedAnswer } from '#platform/async/shared-answer.js';
import { Command } from '#platform/cqrs/message.js';
import { Digester } from '#platform/crypto/digest.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { CLOCK } from '#platform/tokens.js';
import type { BatchMode } from '../contracts/events.js';
import { ReserveCredits } from '../contracts/ports.js';
import type { BatchRecord } from '../domain/batch.decider.js';
import { BATCH_EXECUTOR, type BatchExecutor, READING_EXECUTOR, type ReadingExecutor } from '../executors.js';
import { batchIdOf, batchReadingId } from '../read-models/batch.query.js';
import {
  type ReadingRequest,
  RequestReadingHandler,
  type RequestReadingResult,
  reservationIdAt,
  type Unpaid,
  unpaidOf,
} from './request-reading.js';

/** Why a reading of the batch was not accepted, or its id. */
export type BatchItem =
  | { readonly outcome: 'accepted'; readonly readingId: string }
  | { readonly outcome: 'invalid' }
  /** The credits were spent on those before it. */
  | { readonly outcome: 'no_credits' }
  | Unpaid;

/**
 * `replayed`: this Idempotency-Key already accepted the same batch. `batchId` is null when no reading was accepted: nothing
 * is stored then.
 */
type RequestBatchResult =
  | {
      readonly outcome: 'accepted' | 'replayed';
      readonly batchId: string | null;
      readonly items: readonly BatchItem[];
    }
  | { readonly outcome: 'different_request' }
  | Unpaid;

/**
 * Accepts many readings with one reservation. Mode `all`: all of them, or none is stored. Mode `available`: as many as the
 * credits allow, in their order. @throws StoreUnavailable; a repeated request then continues where this one stopped
 */
export class RequestBatch extends Command<RequestBatchResult> {
  constructor(
    readonly workspaceId: string,
    readonly livemode: boolean,
    readonly mode: BatchMode,
    /** `null`: not a valid request. Only in mode `available`. */
    readonly items: readonly (ReadingRequest | null)[],
    readonly idempotencyKey: string | null,
    readonly by: RequestContext,
    /** Throws when the caller's key has ended, which it may have while readings are accepted. */
    readonly stands: () => Promise<void> = async () => undefined,
  ) {
    super();
  }
}

/** Readings of a batch that are accepted at once. */
const AT_ONCE = 64;
/** A bulk that is not accepted within this time (ms) is answered 503; its readings so far stay. */
const ACCEPTED_WITHIN_MS = 15_000;
/** While readings are accepted, their caller's standing is asked for once in so long (ms). */
const STANDS_FOR_MS = 1_000;

interface Decided {
  readonly batch: BatchRecord;
  /** The open reservation of each reading, by its id. `null`: another request recorded the batch. */
  readonly held: ReadonlyMap<string, { readonly reservationId: string; readonly amount: number }> | null;
}

/**
 * First the reservation, in one entry of the ledger; then, if it holds anything, `BatchRequested`, which fixes what is
 * refused; then each reading as if it had been requested alone. A crash after the reservation leaves holds that are fenced and released. A crash after
 * `BatchRequested` leaves some readings accepted: a request with the same Idempotency-Key accepts the others.
 */
@CommandHandler(RequestBatch)
export class RequestBatchHandler implements ICommandHandler<RequestBatch> {
  constructor(
    @Inject(BATCH_EXECUTOR) private readonly batches: BatchExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly commands: CommandBus,
    @Inject(READING_EXECUTOR) private readonly streams: ReadingExecutor,
    private readonly digester: Digester,
    private readonly keys: SubjectKeys,
    private readonly readings: RequestReadingHandler,
    @Optional() private readonly acceptedWithinMs = ACCEPTED_WITHIN_MS,
  ) {}

  execute(command: RequestBatch): Promise<RequestBatchResult> {
    return withDeadline(
      this.acceptedWithinMs,
      (givenUp) => this.request(command, givenUp),
      () => {
        throw new StoreUnavailable('The batch was not accepted in time', true);
      },
    );
  }

  private async request(command: RequestBatch, givenUp: AbortSignal): Promise<RequestBatchResult> {
    const { workspaceId, livemode, mode, items, idempotencyKey } = command;
    const batchId =
      idempotencyKey === null
        ? randomUUID()
        : batchIdOf(this.digester, workspaceId, livemode, idempotencyKey);
    const known = idempotencyKey === null ? null : (await this.batches.load(batchId)).state;
    const decided = known ? { batch: known, held: null } : await this.decide(command, batchId, givenUp);
    if ('outcome' in decided) return decided;
    const { batch } = decided;
    if (batch.items !== items.length || batch.mode !== mode) return { outcome: 'different_request' };
    const accepted = await this.acceptAll(command, batchId, decided, givenUp);
    if (accepted === 'different_request') return { outcome: 'different_request' };
    return { outcome: decided.held === null ? 'replayed' : 'accepted', batchId, items: accepted };
  }

  private async decide(
    { workspaceId, livemode, mode, items, idempotencyKey, by }: RequestBatch,
    batchId: string,
    givenUp: AbortSignal,
  ): Promise<Decided | RequestBatchResult> {
    await this.keys.ready();
    givenUp.throwIfAborted();
    const reservations = await this.reservations(items, batchId, idempotencyKey !== null, givenUp);
    givenUp.throwIfAborted();
    const product = items.find((item) => item !== null)?.productId;
    const all = mode === 'all';
    const reserved =
      product === undefined
        ? NOTHING_RESERVED
        : await this.commands.execute(
            new ReserveCredits(workspaceId, { reservations, all }, product, livemode, by),
          );
    // In mode `available`, too few credits refuse single readings.
    const isShort = reserved.outcome === 'insufficient' && !all;
    if (reserved.outcome !== 'reserved' && !isShort) return unpaidOf(reserved);
    const { amounts, settled } = reserved.outcome === 'reserved' ? reserved : NOTHING_RESERVED;
    givenUp.throwIfAborted();
    const isAccepted = ({ reservationId }: { reservationId: string }): boolean =>
      amounts.has(reservationId) || settled.has(reservationId);
    const accepted = new Set(reservations.filter(isAccepted).map(({ index }) => index));
    if (accepted.size === 0) {
      const refusedItems = items.map((item): BatchItem => ({ outcome: item ? 'no_credits' : 'invalid' }));
      return { outcome: 'accepted', batchId: null, items: refusedItems };
    }
    const refused = [...items.keys()].filter((index) => !accepted.has(index));
    const invalid = [...items.keys()].filter((index) => items[index] === null);
    const { kind, state } = await this.batches.execute(
      batchId,
      { type: 'RequestBatch', batch: { workspaceId, livemode, mode, items: items.length, refused, invalid } },
      { intent: `request:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
      { fresh: true },
    );
    if (kind !== 'accepted') return { batch: state!, held: null };
    const held = reservations.flatMap(({ readingId, reservationId }) => {
      const amount = amounts.get(reservationId);
      return amount === undefined ? [] : [[readingId, { reservationId, amount }] as const];
    });
    return { batch: state!, held: new Map(held) };
  }

  /**
   * The reservation of each valid item. A request that crashed after its reservation leaves readings whose holds were
   * fenced: the first one tells. Their next reservations have other ids.
   */
  private async reservations(
    items: readonly (ReadingRequest | null)[],
    batchId: string,
    mayBeRepeated: boolean,
    givenUp: AbortSignal,
  ): Promise<readonly { index: number; readingId: string; reservationId: string }[]> {
    const valid = items.flatMap((item, index) =>
      item ? [{ index, readingId: batchReadingId(this.digester, batchId, index) }] : [],
    );
    const [first] = valid;
    const seen = mayBeRepeated && first ? await this.streams.load(first.readingId) : null;
    const isFirst = seen === null || seen.revision === 'no_stream';
    const revisions = new Map<string, ExpectedRevision>();
    if (!isFirst)
      await inParallel(valid.values(), async ({ readingId }) => {
        givenUp.throwIfAborted();
        revisions.set(readingId, (await this.streams.load(readingId)).revision);
      });
    return valid.map((one) => ({
      ...one,
      reservationId: reservationIdAt(one.readingId, revisions.get(one.readingId) ?? 'no_stream'),
    }));
  }

  /**
   * Each reading under its own id, derived from the batch, so that a repeated request finds it. A repeated request is first
   * compared with all that is known of the first one: when they differ, it accepts nothing.
   */
  private async acceptAll(
    { workspaceId, livemode, items, by, stands }: RequestBatch,
    batchId: string,
    { batch, held }: Decided,
    givenUp: AbortSignal,
  ): Promise<readonly BatchItem[] | 'different_request'> {
    if (items.some((request, index) => batch.invalid.includes(index) !== (request === null)))
      return 'different_request';
    const refused = new Set(batch.refused);
    const outcomes = items.map((request, index): BatchItem | null => {
      if (!refused.has(index)) return null;
      return { outcome: request ? 'no_credits' : 'invalid' };
    });
    let isDifferent = false;
    const take = (index: number, readingId: string, result: RequestReadingResult): void => {
      if (result.outcome === 'different_request') isDifferent = true;
      else
        outcomes[index] =
          result.outcome === 'insufficient_credits' || result.outcome === 'billing_misconfigured'
            ? result
            : { outcome: 'accepted', readingId };
    };
    const stillStands = sharedAnswer(STANDS_FOR_MS, stands);
    const forEachOpen = (
      work: (request: ReadingRequest, readingId: string) => Promise<RequestReadingResult | null>,
    ) =>
      inParallel(items.entries(), async ([index, request]) => {
        if (isDifferent || outcomes[index] || !request) return;
        await stillStands();
        givenUp.throwIfAborted();
        const readingId = batchReadingId(this.digester, batchId, index);
        const result = await work(request, readingId);
        if (result) take(index, readingId, result);
      });
    const cause = { ...by, causationId: batchId };
    if (held === null) await forEachOpen((request, readingId) => this.readings.answered(readingId, request));
    await forEachOpen((request, readingId) => {
      const hold = held?.get(readingId) ?? null;
      const known = { isNew: hold?.reservationId === reservationIdAt(readingId, 'no_stream'), held: hold };
      return this.readings.accept({ workspaceId, livemode, request, by: cause }, readingId, known, givenUp);
    });
    return isDifferent ? 'different_request' : (outcomes as readonly BatchItem[]);
  }
}

/** Works on AT_ONCE of them at a time. After a failure, no further one is started. */
const inParallel = async <T>(
  all: Iterator<T> & Iterable<T>,
  work: (one: T) => Promise<void>,
): Promise<void> => {
  let isOver = false;
  const next = async (): Promise<void> => {
    for (const one of all) {
      if (isOver) return;
      await work(one);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  } finally {
    isOver = true;
  }
};

const NOTHING_RESERVED = {
  outcome: 'reserved',
  amounts: new Map<string, number>(),
  settled: new Set<string>(),
} as const;
