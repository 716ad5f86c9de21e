import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { rowsOf } from './postgres.js';
import type { World } from './world.js';

/**
 * Whether every reading has ended, every key belongs to one, every hold is settled, every consumer is caught up, and
 * nothing is on its way.
 */
export const isQuiet = async ({
  store,
  postgres,
  onTheWay,
  scheduler,
  consumers,
}: World): Promise<boolean> => {
  if (onTheWay.count > 0 || scheduler.pauses > 0) return false;
  const count = new Map<string, number>();
  const last = new Map<string, bigint>();
  const requested = new Set<string>();
  for (const { type, stream, position } of store.log) {
    count.set(type, (count.get(type) ?? 0) + 1);
    last.set(categoryOf(stream), position);
    if (type === 'ReadingRequested') requested.add(streamId(stream));
  }
  const of = (...types: readonly string[]): number =>
    types.reduce((sum, type) => sum + (count.get(type) ?? 0), 0);
  const contents = await postgres.copy();
  const reached = new Map(
    rowsOf(contents, 'event_sourcing.consumer').map(({ name, position }) => [name, position]),
  );
  return (
    rowsOf(contents, 'platform.subject_key').every(({ subject_id: id }) => requested.has(id as string)) &&
    of('ReadingRequested') === of('ReadingCompleted', 'ReadingFailed') &&
    isFollowedUp(store.log) &&
    of('CreditsReserved') === of('CreditsCaptured', 'CreditsReleased') &&
    [...consumers.values()].every(({ name, categories }) => {
      const position = BigInt((reached.get(name) as number | null | undefined) ?? 0);
      return categories.every((category) => (last.get(category) ?? 0n) <= position);
    })
  );
};

/**
 * Whether every completed reading and every requested version is published or erased, or failed to be, and every started
 * erasure is done.
 */
const isFollowedUp = (log: readonly StoredEvent[]): boolean => {
  const readings = (type: string): string[] =>
    log.filter((event) => event.type === type).map(({ stream }) => streamId(stream));
  const erased = new Set([...readings('ReadingErased'), ...readings('PublicationFailed')]);
  const published = new Set(readings('DocumentPublished'));
  const versions = (type: string): string[] =>
    log
      .filter((event) => event.type === type)
      .map(({ stream, data }) => `${streamId(stream)}|${(data as { version: number }).version}`);
  const made = new Set(versions('DocumentPublished'));
  return (
    versions('PublicationRequested').every((one) => made.has(one) || erased.has(one.split('|')[0]!)) &&
    readings('ReadingCompleted').every((id) => published.has(id) || erased.has(id)) &&
    readings('PublicationWithdrawn').every((id) => erased.has(id))
  );
};
