import type { DeliveryStatus } from '../../contracts/deliveries.js';

/**
 * The states of a delivery: one event for one endpoint.
 *
 *     insert ──▶ scheduled ──▶ due ──▶ in flight ──▶ succeeded
 *                    ▲          ▲       │  │  │
 *                    │          └─lease─┘  │  └────▶ exhausted
 *                    └────────retry────────┘
 *     insert, scheduled, due, in flight ───────────▶ skipped
 *
 * - scheduled: pending, `due_at` is in the future. It waits for its first attempt, for the back-off of a retry, or for
 *   the retry of an earlier delivery of the same reading.
 * - due: pending, `due_at` has passed. It is sent when a worker has the lease of the workspace, the in-flight limits allow
 *   it, and no earlier delivery of its reading is pending.
 * - in flight: pending, an attempt is being made under the lease of the workspace. Only the worker that has the lease knows.
 *   When it is given up, or expires before an outcome is recorded, the delivery is due.
 * - succeeded: the receiver answered 2xx.
 * - exhausted: the last attempt of the retry schedule failed. A failure of the service's own proxy is never the last.
 * - skipped: the endpoint was disabled or deleted, before or after the insert.
 *
 * The last three are final. An outcome that arrives afterwards adds its attempt to the history and changes no status. A
 * redelivery or a replay is a new delivery of the same event. The first three are `pending` rows of the queue
 * (`webhooks.delivery`); a settled delivery is a row of the history (`webhooks.settled_delivery`).
 */
export type DeliveryTransition = 'succeed' | 'retry' | 'exhaust' | 'skip';

/** The status of a pending delivery after a transition. A settled delivery has none: its status never changes. */
export const STATUS_AFTER: Readonly<Record<DeliveryTransition, DeliveryStatus>> = {
  succeed: 'succeeded',
  retry: 'pending',
  exhaust: 'exhausted',
  skip: 'skipped',
};

/** @param backOffMs pause before the next attempt; `null`: the schedule has none */
export const transitionAfterFailure = (backOffMs: number | null): 'retry' | 'exhaust' =>
  backOffMs === null ? 'exhaust' : 'retry';

/**
 * When an event has several deliveries to one endpoint, the outcome is the first status in this list that any of them
 * has.
 */
export const OUTCOME_PRECEDENCE: readonly DeliveryStatus[] = ['pending', 'succeeded', 'exhausted', 'skipped'];

/** The outcome of an event at an endpoint over all its deliveries there; `missing`: it has none. */
export const eventOutcome = (statuses: readonly DeliveryStatus[]): DeliveryStatus | 'missing' =>
  OUTCOME_PRECEDENCE.find((status) => statuses.includes(status)) ?? 'missing';
