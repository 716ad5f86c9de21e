import type { Pool } from 'pg';
import { isSetAside } from '../core/event.js';
import { requestedBy } from '../core/request-context.js';
import { readQuarantines } from '../quarantine/quarantine-register.js';
import { recordQuarantine } from '../quarantine/record-quarantine.js';
import type { EventStore } from '../store/event-store.js';

interface Skip {
  position: string;
  stream: string;
  error: string;
  skipped_by: string;
  reason: string;
}

/**
 * Records the skips of older programs as quarantines for the same consumer, once, so that they are honoured from then
 * on. A process that dies in between records them again, which changes nothing.
 */
export const quarantineSkips = async (
  pool: Pick<Pool, 'query'>,
  store: EventStore,
  consumer: string,
): Promise<void> => {
  const { rows } = await pool.query<Skip>(
    `select position, stream, error, skipped_by, reason from event_sourcing.skipped_event
     where consumer = $1 and quarantined_at is null order by position`,
    [consumer],
  );
  if (rows.length === 0) return;
  const known = await readQuarantines(store);
  for (const { position, stream, error, skipped_by: by, reason } of rows) {
    for await (const event of store.read(stream)) {
      if (String(event.position) !== position) continue;
      const quarantine = known.of(stream, event.revision);
      if (quarantine && isSetAside({ quarantine }, consumer)) break;
      const { revision, id: eventId, type: eventType } = event;
      // A skip could only say so for one consumer: no reader can read it.
      const consumers = error.includes(`CorruptEvent: ${stream}@${event.revision} `) ? null : [consumer];
      const data = {
        stream,
        revision: String(revision),
        eventId,
        eventType,
        cause: error,
        reason,
        until: null,
      };
      await recordQuarantine(
        store,
        { type: 'EventQuarantined', data: { ...data, consumers } },
        requestedBy(by, `skip_${consumer}_${position}`),
      );
      break;
    }
    await pool.query(
      'update event_sourcing.skipped_event set quarantined_at = now() where consumer = $1 and position = $2',
      [consumer, position],
    );
  }
};
