import { streamId } from '#event-sourcing/core/stream-name.js';
import type { Customer } from './customers.js';
import type { History, Report } from './history.js';
import type { World } from './world.js';

/**
 * Live and test never mix: each reading has one mode in all its events and views, and it is that of the customer who was
 * answered with it. That each is charged to the book of its mode is checked with the books.
 */
export const checkModes = (
  { store }: World,
  { readings, publications, rows }: History,
  customers: readonly Customer[],
  report: Report,
): void => {
  const modes = new Map<string, Set<boolean>>();
  for (const [id, events] of [...readings, ...publications])
    for (const { data } of events)
      if ('livemode' in data) modes.set(id, (modes.get(id) ?? new Set()).add(data.livemode));
  for (const [id, seen] of modes) if (seen.size > 1) report(`reading ${id} is of both modes`);
  for (const { livemode, idempotencyKey, accepted } of customers)
    for (const id of accepted)
      if (!modes.get(id)?.has(livemode))
        report(`${idempotencyKey} was answered with ${id} of the other mode`);
  for (const { reading_id: id, livemode } of rows('readings.reading'))
    if (!modes.get(id as string)?.has(livemode as boolean))
      report(`reading ${id as string} is of the other mode in the view`);
  checkLiveBooksAlone(store.log, modes, report);
};

/** No entry of a live book is caused by an event of a test reading. */
const checkLiveBooksAlone = (
  log: World['store']['log'],
  modes: ReadonlyMap<string, ReadonlySet<boolean>>,
  report: Report,
): void => {
  const ofTest = new Set(
    log.filter(({ stream }) => modes.get(streamId(stream))?.has(false)).map(({ id }) => id),
  );
  for (const { stream, revision, metadata } of log)
    if (stream.startsWith('credits-') && ofTest.has(metadata.causationId))
      report(`${stream}@${revision} was caused by a test reading`);
};
