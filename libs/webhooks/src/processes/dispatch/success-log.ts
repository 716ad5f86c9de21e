import type pg from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { AttemptResult } from '../../domain/delivery/attempt-result.js';
import type { ClaimedDelivery } from './claim.js';

/** Times in milliseconds since the epoch. */
export interface FinishedAttempt {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
}

interface Waiting {
  readonly delivery: ClaimedDelivery;
  readonly attempt: FinishedAttempt;
  readonly resolve: (hasRecovered: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Successes recorded in one statement. */
const BATCH = 64;

const SUCCEED = `
  with done as (
    select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::integer[], $6::bytea[],
                         $7::text[], $8::uuid[], $9::timestamptz[])
      as done (delivery_id, number, started_at, duration_ms, status_code, response_body, endpoint_id, lease, ended_at)
  ), attempted as (
    insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, response_body, endpoint_id)
    select delivery_id, number, started_at, duration_ms, status_code, response_body, endpoint_id from done
    on conflict do nothing
  ), settled as (
    update webhooks.delivery set status = 'succeeded', lease = null, settled_at = done.ended_at
    from done
    where delivery.delivery_id = done.delivery_id and delivery.lease = done.lease and delivery.status = 'pending'
  )
  update webhooks.endpoint_health set consecutive_failures = 0, failing_since = null, probe_at = null
  where consecutive_failures > 0 and endpoint_id in (select endpoint_id from done)
  returning endpoint_id`;

/**
 * Records successful attempts. Those that end while a statement is under way go into the next together: the busier, the
 * fewer transactions each of them costs.
 */
export class SuccessLog {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(private readonly pool: pg.Pool) {}

  /** @returns whether the endpoint had been failing */
  add(delivery: ClaimedDelivery, attempt: FinishedAttempt): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ delivery, attempt, resolve, reject });
      if (!this.isWriting) void this.write();
    });
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH);
      try {
        const recovered = await this.record(batch);
        for (const { delivery, resolve } of batch) resolve(recovered.has(delivery.endpointId));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isWriting = false;
  }

  private async record(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const column = <T>(of: (one: Waiting) => T): readonly T[] => batch.map(of);
    const { rows } = await this.pool.query<{ endpoint_id: string }>({
      name: 'webhooks.succeed',
      text: SUCCEED,
      values: [
        column(({ delivery }) => delivery.deliveryId),
        column(({ delivery }) => delivery.attempt),
        column(({ attempt }) => instant(attempt.startedAt)),
        column(({ attempt }) => attempt.endedAt - attempt.startedAt),
        column(({ attempt }) => attempt.result.statusCode),
        column(({ attempt }) => attempt.result.responseBody),
        column(({ delivery }) => delivery.endpointId),
        column(({ delivery }) => delivery.lease),
        column(({ attempt }) => instant(attempt.endedAt)),
      ],
    });
    return new Set(rows.map(({ endpoint_id: endpointId }) => endpointId));
  }
}

/** Columns of an attempt: delivery, number, start, duration, status, error, answer, endpoint. */
export const attemptValues = (
  { deliveryId, attempt, endpointId }: ClaimedDelivery,
  { startedAt, endedAt, result }: FinishedAttempt,
): readonly unknown[] => [
  deliveryId,
  attempt,
  instant(startedAt),
  endedAt - startedAt,
  result.statusCode,
  result.error,
  result.responseBody,
  endpointId,
];
