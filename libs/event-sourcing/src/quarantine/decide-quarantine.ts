import type { Pool } from 'pg';
import type { RequestContext } from '../core/request-context.js';
import { categoryOf } from '../core/stream-name.js';
import type { EventStore } from '../store/event-store.js';
import type { QuarantineEvent } from './quarantine-events.js';
import { recordQuarantine } from './record-quarantine.js';

/**
 * Records a decision about an event, and makes the consumers of its stream load their state again. A consumer that has
 * not reached the event decides with the quarantines that it has read before: a batch that it began earlier fails, and
 * the next one knows of the decision. One that is beyond the event is the caller's to repair.
 * @throws StoreUnavailable
 */
export const decideQuarantine = async (
  { pool, store }: { readonly pool: Pick<Pool, 'query'>; readonly store: EventStore },
  event: QuarantineEvent,
  by: RequestContext,
): Promise<void> => {
  await recordQuarantine(store, event, by);
  // Versions under construction are verified afterwards.
  await pool.query(
    `update event_sourcing.consumer set epoch = epoch + 1 where $1 = any (categories) and name !~ '__v[0-9]+$'`,
    [categoryOf(event.data.stream)],
  );
};
