import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { readingEvents } from '@app/readings/contracts/index.js';

const ABOUT_PEOPLE: readonly string[] = [readingEvents.category, publicationEvents.category];

/** Sealed members, and digests of older event versions that are not keyed with the reading's own key. */
const WITHHELD = new Set([
  'sealedInput',
  'sealedResult',
  'inputDigest',
  'idempotencyDigest',
  'resultSha256',
  'sha256',
]);
const MARK = '(withheld)';

/**
 * A stored event as operators see it and may share it. It lacks anything that could confirm who an erased person was
 * (docs/adr/0018). Sealed members go too, because ids of older events cover them together with an unkeyed digest.
 */
export const shownEvent = (event: StoredEvent): StoredEvent =>
  ABOUT_PEOPLE.includes(categoryOf(event.stream))
    ? { ...event, id: shownId(event), data: withhold(event.data) }
    : event;

/** The first version of this event has only guessable facts. Its id is a hash of them and would confirm a guess. */
export const shownId = ({ id, type, metadata }: StoredEvent): string =>
  type === 'DocumentPublished' && metadata.schemaVersion === 1 ? MARK : id;

const withhold = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withhold);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isExactSize = name === 'bytes' && 'sha256' in value;
      return [name, WITHHELD.has(name) || isExactSize ? MARK : withhold(member)];
    }),
  );
};
