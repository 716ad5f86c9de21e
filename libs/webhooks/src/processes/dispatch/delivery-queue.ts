import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import { transaction } from '@app/platform/postgres/pool.js';
import { PROBE_AFTER_FAILURES, PROBE_PAUSE_MS } from '../../domain/delivery/attempt-result.js';
import { claimRound, type ClaimedDelivery, type QueueLimits } from './claim.js';
import { SuccessLog, attemptValues, type FinishedAttempt } from './success-log.js';

export interface EndpointFailures {
  readonly consecutiveFailures: number;
  readonly failingSince: number;
}

/** Rounds of one claim, each over the next endpoints that have work. */
const ROUNDS = 8;

const FORGET_FLOORS_EVERY_MS = 600_000;

/** The deliveries table as a queue. Every change is guarded by the lease, so a worker that lost it changes nothing. */
export class DeliveryQueue {
  private readonly successes: SuccessLog;
  private forgetFloorsAt = 0;
  /** Endpoints that had no room at the last look: looked at again as soon as one of their attempts ends. */
  private readonly full = new Set<string>();
  /** Endpoints of which an attempt ended since the last claim began, perhaps unseen by it. */
  private readonly ended = new Set<string>();

  constructor(
    private readonly pool: pg.Pool,
    private readonly limits: QueueLimits,
  ) {
    this.successes = new SuccessLog(pool);
  }

  /**
   * Takes up to `count` due deliveries; each is this worker's until the lease ends.
   * @param now milliseconds since the epoch
   */
  async claim(count: number, now: number): Promise<readonly ClaimedDelivery[]> {
    if (now >= this.forgetFloorsAt) {
      this.forgetFloorsAt = now + FORGET_FLOORS_EVERY_MS;
      await this.pool.query(FORGET_FLOORS, [instant(now)]);
    }
    const claimed: ClaimedDelivery[] = [];
    const full: string[] = [];
    this.ended.clear();
    for (let round = 0; round < ROUNDS && claimed.length < count; round += 1) {
      const lease = randomUUID();
      const found = await transaction(this.pool, (client) =>
        claimRound(client, this.limits, lease, count - claimed.length, now),
      );
      claimed.push(...found.claimed);
      full.push(...found.full);
      if (!found.isPartial) break;
    }
    for (const endpointId of full) this.full.add(endpointId);
    await this.reopen([...this.ended], now);
    return claimed;
  }

  /** Records a successful attempt: the delivery is settled and the endpoint is well. */
  async succeed(delivery: ClaimedDelivery, attempt: FinishedAttempt): Promise<void> {
    const { endpointId } = delivery;
    const hasRecovered = await this.successes.add(delivery, attempt);
    if (hasRecovered) this.full.add(endpointId);
    this.ended.add(endpointId);
    await this.reopen([endpointId], attempt.endedAt);
  }

  /**
   * Records a failed attempt, and when to try again.
   * @param pauseMs until the next attempt; `null`: there is none
   */
  async fail(
    delivery: ClaimedDelivery,
    attempt: FinishedAttempt,
    pauseMs: number | null,
  ): Promise<EndpointFailures> {
    const { deliveryId, endpointId, lease } = delivery;
    const at = instant(attempt.endedAt);
    const dueAt = pauseMs === null ? null : instant(attempt.endedAt + pauseMs);
    const failures = await transaction(this.pool, async (client) => {
      await client.query(FAIL, [...attemptValues(delivery, attempt), dueAt, at, lease]);
      if (dueAt !== null && !delivery.redelivery) await client.query(HOLD_UP_FOLLOWERS, [deliveryId, dueAt]);
      const { rows } = await client.query<{ consecutive_failures: number; failing_since: Date }>(
        COUNT_FAILURE,
        [endpointId, at, instant(attempt.endedAt + PROBE_PAUSE_MS)],
      );
      return {
        consecutiveFailures: rows[0]!.consecutive_failures,
        failingSince: rows[0]!.failing_since.getTime(),
      };
    });
    this.ended.add(endpointId);
    this.full.delete(endpointId);
    await this.openLanes([endpointId], at);
    return failures;
  }

  /** Gives deliveries back that were not attempted to the end; the attempt does not count. */
  async release(deliveries: readonly ClaimedDelivery[], now: number): Promise<void> {
    await this.pool.query(
      `update webhooks.delivery set lease = null, due_at = $3, attempts = attempts - 1
       where delivery_id = any ($1) and lease = any ($2) and status = 'pending'`,
      [deliveries.map(({ deliveryId }) => deliveryId), deliveries.map(({ lease }) => lease), instant(now)],
    );
    await this.openLanes(
      deliveries.map(({ endpointId }) => endpointId),
      instant(now),
    );
  }

  /** Those of them that had no room may have some now. */
  private async reopen(endpointIds: readonly string[], now: number): Promise<void> {
    const full = endpointIds.filter((endpointId) => this.full.delete(endpointId));
    if (full.length > 0) await this.openLanes(full, instant(now));
  }

  private async openLanes(endpointIds: readonly string[], at: string): Promise<void> {
    await this.pool.query({ name: 'webhooks.open', text: OPEN_LANES, values: [endpointIds, at] });
  }
}

/** Locked in one order, so that two who do so cannot block each other. */
const OPEN_LANES = `
  with closed as (
    select endpoint_id from webhooks.lane where endpoint_id = any ($1) order by endpoint_id for update
  )
  update webhooks.lane set ready_at = least(ready_at, $2), due_from = least(due_from, $2)
  from closed where lane.endpoint_id = closed.endpoint_id and (lane.ready_at > $2 or lane.due_from > $2)`;

/** A floor that is wrong would hide deliveries for ever: once a while all are found anew. */
const FORGET_FLOORS = `
  with known as (
    select endpoint_id from webhooks.lane where due_from > '-infinity' order by endpoint_id for update skip locked
  )
  update webhooks.lane set ready_at = least(ready_at, $1), due_from = '-infinity'
  from known where lane.endpoint_id = known.endpoint_id`;

const FAIL = `
  with attempt as (
    insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, response_body, endpoint_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict do nothing)
  update webhooks.delivery
  set lease = null, status = case when $9::timestamptz is null then 'exhausted' else status end,
      due_at = coalesce($9, due_at), settled_at = case when $9 is null then $10::timestamptz end
  where delivery_id = $1 and lease = $11 and status = 'pending'`;

/** What must come after this delivery cannot come before its retry. */
const HOLD_UP_FOLLOWERS = `
  update webhooks.delivery follower set due_at = $2
  from webhooks.delivery held
  where held.delivery_id = $1 and follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
    and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
    and follower.due_at < $2`;

const COUNT_FAILURE = `
  insert into webhooks.endpoint_health as health (endpoint_id, consecutive_failures, failing_since)
  values ($1, 1, $2)
  on conflict (endpoint_id) do update
  set consecutive_failures = health.consecutive_failures + 1,
      failing_since = coalesce(health.failing_since, excluded.failing_since),
      probe_at = case when health.consecutive_failures + 1 >= ${PROBE_AFTER_FAILURES} then $3::timestamptz end
  returning consecutive_failures, failing_since`;
