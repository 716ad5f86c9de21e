import { decodeOrShow, isOpaque, type EventCatalogue } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';

const ABOUT_PEOPLE: readonly EventCatalogue[] = [readingEvents, publicationEvents];

/** Members that are sealed. */
const WITHHELD = new Set(['sealedInput', 'sealedResult']);
const MARK = '(withheld)';

/** A stored event as operators see it and may share it: without its sealed members. */
export const shownEvent = (event: StoredEvent): StoredEvent => {
  const catalogue = ABOUT_PEOPLE.find(({ category }) => category === categoryOf(event.stream));
  if (!catalogue) return event;
  const decoded = decodeOrShow(catalogue, event);
  const isRead = !isOpaque(decoded) || decoded.problem === null;
  return { ...event, data: isRead ? withhold(event.data) : membersOf(event.data) };
};

/** Anything may stand in an event that cannot be read: only the names of its members are shown. */
const membersOf = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && !Array.isArray(data)
    ? Object.fromEntries(Object.keys(data).map((name) => [name, MARK]))
    : MARK;

const withhold = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withhold);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, WITHHELD.has(name) ? MARK : withhold(member)]),
  );
};

/**
 * Who wrote an event, or what is known of that. Events that other programs append may name nobody.
 * @param owner the workspace of the stream; empty: unknown
 */
export const shownActor = ({ metadata }: Pick<StoredEvent, 'metadata'>, owner = ''): string => {
  const { actor, workspaceId, schemaVersion } = metadata;
  const isForeign = owner !== '' && workspaceId !== '' && workspaceId !== owner;
  if (actor !== '') return isForeign ? `${actor} of another workspace, ${workspaceId}` : actor;
  if (isForeign) return `unknown: event of another workspace, ${workspaceId}`;
  return schemaVersion === 0 ? 'unknown: event of another program' : 'unknown';
};

/** The id of what caused an event. */
export const shownCause = ({ metadata }: Pick<StoredEvent, 'metadata'>): string =>
  metadata.causationId || 'unknown';
