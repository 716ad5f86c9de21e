import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { PROBE_PAUSE_MS, isOfReceiver, type AttemptResult } from '../../domain/delivery/attempt-result.js';
import { transitionAfterFailure } from '../../domain/delivery/delivery-state.js';
import { ADD_TO_SKIPPED, FAIL, PUT_OFF, SUCCEED } from './outcome-sql.js';

/** An attempt that has ended. Times in milliseconds since the epoch. */
export interface FinishedAttempt {
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
  readonly endpointId: string;
  /** Where it was sent: the endpoint may have another URL by now. */
  readonly url: string;
  readonly redelivery: boolean;
  /** Of the workspace, under which it was sent. */
  readonly lease: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  /** The receiver's answer to a failed attempt, sealed; `null`: none is stored. */
  readonly answer: Uint8Array | null;
}

export interface EndpointFailures {
  readonly consecutiveFailures: number;
  readonly failingSince: number;
}

interface QueuedOutcome {
  readonly attempt: FinishedAttempt;
  /** Pause before the next attempt (ms); `null`: there is none, because this one succeeded or was the last. */
  readonly backOffMs: number | null;
  readonly resolve: (recorded: Recorded) => void;
  readonly reject: (error: unknown) => void;
}

/** What recording an attempt has changed for its endpoint. */
interface Recorded {
  /** The endpoint had been failing. */
  readonly hasRecovered: boolean;
  /** `null`: the attempt does not count as a failure of the endpoint. */
  readonly failures: EndpointFailures | null;
}
const NOTHING_CHANGED: Recorded = { hasRecovered: false, failures: null };

/** Most outcomes recorded in one statement. */
const BATCH = 128;
/**
 * While batches are larger than this, a statement waits a little for more outcomes: half of what it costs does not depend on
 * how many it records.
 */
const BUSY_BATCH = 8;
const GATHER_MS = 5;

/**
 * Records the outcomes of attempts. Those that arrive while a statement runs go into the next one together: the higher the
 * load, the fewer transactions for each. Failures cost about as much as successes.
 */
export class OutcomeLog {
  private queued: QueuedOutcome[] = [];
  private isWriting = false;

  constructor(private readonly pool: pg.Pool) {}

  /** @returns whether the endpoint had been failing */
  async succeeded(attempt: FinishedAttempt): Promise<boolean> {
    return (await this.add(attempt, null)).hasRecovered;
  }

  /**
   * @param backOffMs pause before the next attempt; `null`: there is none
   * @returns the failures of the endpoint in a row; `null` when this one does not count, because it says nothing about the
   * receiver, because the endpoint has another URL now, or because the lease was lost (then nothing has changed)
   */
  async failed(attempt: FinishedAttempt, backOffMs: number | null): Promise<EndpointFailures | null> {
    return (await this.add(attempt, backOffMs)).failures;
  }

  /** A delivery that could not be prepared, so no attempt was made, is due later. @param until milliseconds since the epoch */
  async putOff(
    { deliveryId, number, lease }: Pick<FinishedAttempt, 'deliveryId' | 'number' | 'lease'>,
    until: number,
  ): Promise<void> {
    await this.pool.query(PUT_OFF, [deliveryId, number, lease, instant(until)]);
  }

  private add(attempt: FinishedAttempt, backOffMs: number | null): Promise<Recorded> {
    return new Promise((resolve, reject) => {
      this.queued.push({ attempt, backOffMs, resolve, reject });
      if (!this.isWriting) void this.write();
    });
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    for (let last = 0; this.queued.length > 0;) {
      if (last > BUSY_BATCH && this.queued.length < BATCH) await delay(GATHER_MS);
      const batch = this.queued.splice(0, lengthInOrder(this.queued));
      last = batch.length;
      const [succeeded, failed] = [batch.filter(isSuccess), batch.filter((one) => !isSuccess(one))];
      await this.settle(succeeded, () => this.recordSuccesses(succeeded));
      await this.settle(failed, () => this.recordFailures(failed));
    }
    this.isWriting = false;
  }

  /** Answers each of the batch. Those that were in the queue no more may have been skipped. */
  private async settle(
    batch: readonly QueuedOutcome[],
    record: () => Promise<ReadonlyMap<string, Recorded>>,
  ): Promise<void> {
    if (batch.length === 0) return;
    try {
      const recorded = await record();
      const missed = batch.filter(({ attempt }) => !recorded.has(attempt.deliveryId));
      if (missed.length > 0) await this.pool.query(ADD_TO_SKIPPED, columnsOf(missed));
      for (const { attempt, resolve } of batch) resolve(recorded.get(attempt.deliveryId) ?? NOTHING_CHANGED);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  private async recordSuccesses(batch: readonly QueuedOutcome[]): Promise<ReadonlyMap<string, Recorded>> {
    const { rows } = await this.pool.query<{ delivery_id: string; has_recovered: boolean }>({
      name: 'webhooks.succeed',
      text: SUCCEED,
      values: columnsOf(batch),
    });
    return new Map(rows.map((row) => [row.delivery_id, { hasRecovered: row.has_recovered, failures: null }]));
  }

  private async recordFailures(batch: readonly QueuedOutcome[]): Promise<ReadonlyMap<string, Recorded>> {
    const { rows } = await this.pool.query<{
      delivery_id: string;
      consecutive_failures: number | null;
      failing_since: Date | null;
    }>({
      name: 'webhooks.fail',
      text: FAIL,
      values: [
        ...columnsOf(batch),
        batch.map(({ attempt, backOffMs }) =>
          transitionAfterFailure(backOffMs) === 'exhaust' ? null : instant(attempt.endedAt + backOffMs!),
        ),
        batch.map(({ attempt: { url, result } }) => (isOfReceiver(result.error!) ? url : null)),
        PROBE_PAUSE_MS,
      ],
    });
    return new Map(
      rows.map((row) => [
        row.delivery_id,
        {
          hasRecovered: false,
          failures:
            row.consecutive_failures === null
              ? null
              : {
                  consecutiveFailures: row.consecutive_failures,
                  failingSince: row.failing_since!.getTime(),
                },
        },
      ]),
    );
  }
}

const isSuccess = ({ attempt }: QueuedOutcome): boolean => attempt.result.error === null;

/**
 * How many outcomes, from the oldest, can be recorded with the successes first: up to a success that ends failures of its
 * endpoint.
 */
const lengthInOrder = (queued: readonly QueuedOutcome[]): number => {
  const failing = new Set<string>();
  for (const [index, one] of queued.slice(0, BATCH).entries()) {
    if (!isSuccess(one)) failing.add(one.attempt.endpointId);
    else if (failing.has(one.attempt.endpointId)) return index;
  }
  return BATCH;
};

/** The parameters of `DONE`. */
const columnsOf = (batch: readonly QueuedOutcome[]): unknown[] => {
  const column = <T>(of: (one: FinishedAttempt) => T): readonly T[] =>
    batch.map(({ attempt }) => of(attempt));
  return [
    column(({ deliveryId }) => deliveryId),
    column(({ number }) => number),
    column(({ startedAt }) => instant(startedAt)),
    column(({ startedAt, endedAt }) => endedAt - startedAt),
    column(({ result }) => result.statusCode),
    column(({ answer }) => answer),
    column(({ lease }) => lease),
    column(({ endedAt }) => instant(endedAt)),
    column(({ result }) => result.error),
  ];
};
