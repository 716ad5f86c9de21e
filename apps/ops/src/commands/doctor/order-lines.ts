import { orderLineEvents } from '#billing/contracts/index.js';
import { isSetAside, type StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { ownerOf, problemOf, wayAround } from '../parked/event.js';
import { failure, ok, type Finding } from './finding.js';

const CHECK = 'order lines';
/** Findings, at most. */
const MOST = 20;
/** Shorter than the doctor's wait for a check. */
const READ_WITHIN_MS = 5_000;

/**
 * Order lines that cannot be read: their packs can be neither added nor refunded. No consumer follows them, so nothing
 * is parked. Reads the newest first, and stops after a while.
 */
export const checkOrderLines = async (
  store: Pick<EventStore, 'read' | 'readAll'>,
): Promise<readonly Finding[]> => {
  const giveUpAt = performance.now() + READ_WITHIN_MS;
  const lines = new Map<string, StoredEvent[]>();
  let [count, isWhole] = [0, true];
  const newestFirst = store.readAll({
    direction: 'backwards',
    only: { categories: [orderLineEvents.category] },
  });
  for await (const event of newestFirst) {
    count += 1;
    lines.set(event.stream, [event, ...(lines.get(event.stream) ?? [])]);
    if (performance.now() < giveUpAt) continue;
    isWhole = false;
    break;
  }
  const found: Finding[] = [];
  for (const [stream, events] of lines) {
    // A line is one event. Only a further one can be of another workspace than the first.
    const owner = events.length > 1 ? await ownerOf(store, stream) : '';
    for (const event of events.filter((one) => !isSetAside(one))) {
      const problem = problemOf(event, owner);
      if (problem === null) continue;
      const place = `${stream}@${event.revision}`;
      found.push(
        failure(
          CHECK,
          `${place} (${event.type}) cannot be read, so its pack can be neither added nor refunded: ${problem}`,
          `Deploy a version that can read it. If none will: ${wayAround(place)}`,
        ),
      );
      if (found.length === MOST) return found;
    }
  }
  if (found.length > 0) return found;
  const which = isWhole ? `all ${count}` : `the newest ${count}`;
  return [ok(CHECK, `${which} can be read`)];
};
