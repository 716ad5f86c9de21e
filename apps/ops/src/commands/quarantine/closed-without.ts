import { creditsEvents } from '@app/billing/contracts/index.js';
import { decodeOrShow, isOpaque } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import { QUARANTINE_STREAM, quarantineEvents } from '@app/event-sourcing/quarantine/quarantine-events.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';

type Reader = Pick<EventStore, 'read'>;

/**
 * The revision at which the month of a book's entry was closed while readers passed over the entry; `null`: none was.
 * A close before the quarantine carries the entry, and so do all that follow it.
 */
export const closedWithout = async (store: Reader, entry: StoredEvent): Promise<bigint | null> => {
  if (categoryOf(entry.stream) !== creditsEvents.category) return null;
  const decisions = await decisionsOn(store, entry);
  for await (const later of store.read(entry.stream, { from: entry.revision + 1n })) {
    if (isSetAside(later) || (later.type !== 'PeriodClosed' && later.type !== 'PeriodCarried')) continue;
    const decision = decisions.findLast(({ position }) => position < later.position);
    if (decision?.isPassedOver) return later.revision;
    if (later.type === 'PeriodClosed') return null;
  }
  return null;
};

/** From where on in the log all readers pass over the event, and from where on they do not. */
const decisionsOn = async (store: Reader, { stream, revision }: StoredEvent) => {
  const decisions: { readonly position: bigint; readonly isPassedOver: boolean }[] = [];
  for await (const stored of store.read(QUARANTINE_STREAM)) {
    const decision = decodeOrShow(quarantineEvents, stored);
    if (isOpaque(decision)) continue;
    const { type, data, position } = decision;
    if (data.stream !== stream || BigInt(data.revision) !== revision) continue;
    if (type === 'QuarantineWithdrawn') decisions.push({ position, isPassedOver: false });
    else if (data.consumers === null) decisions.push({ position, isPassedOver: true });
  }
  return decisions;
};
