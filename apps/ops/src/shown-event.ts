import { InvalidArgumentError } from 'commander';
import {
  correctionEvents,
  creditsEvents,
  orderLineEvents,
  testBookEvents,
} from '#billing/contracts/index.js';
import {
  CorruptEvent,
  decodeOrShow,
  isOpaque,
  mayBeNewer,
  requireWorkspace,
  type EventCatalogue,
} from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import type { Place } from '#event-sourcing/projections/parked-streams.js';
import { setAsideEvents } from '#event-sourcing/projections/set-aside.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { batchEvents, readingEvents } from '#readings/contracts/index.js';
import { webhookEndpointEvents } from '#webhooks/contracts/index.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';
import { OpsError } from './output.js';

const CATALOGUES: readonly EventCatalogue[] = [
  workspaceEvents,
  readingEvents,
  batchEvents,
  publicationEvents,
  creditsEvents,
  testBookEvents,
  orderLineEvents,
  correctionEvents,
  webhookEndpointEvents,
  setAsideEvents,
];

/** The events of a stream's category; `null` when the service has no such streams. */
export const catalogueOf = (stream: string): EventCatalogue | null =>
  CATALOGUES.find(({ category }) => category === categoryOf(stream)) ?? null;

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

/** Parses `<stream>@<revision>`. */
export function parsePlace(text: string): Place {
  const found = /^(.+)@(\d{1,18})$/.exec(text);
  if (!found) throw new InvalidArgumentError('must be <stream>@<revision>, such as reading-7f9c…@3');
  return { stream: found[1]!, revision: BigInt(found[2]!) };
}

/** @throws OpsError when there is no such event */
export const requireEvent = async (store: EventStore, { stream, revision }: Place): Promise<StoredEvent> => {
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    if (event.revision === revision) return event;
  throw new OpsError(`There is no event ${stream}@${revision}: ops streams show ${stream} shows them.`);
};

/** The workspace of a stream: that of its first event that can be read. Empty when there is none. */
export const ownerOf = async (store: Pick<EventStore, 'read'>, stream: string): Promise<string> => {
  const catalogue = catalogueOf(stream);
  for await (const event of catalogue ? store.read(stream) : [])
    if (!isOpaque(decodeOrShow(catalogue!, event))) return event.metadata.workspaceId;
  return '';
};

/** Why an event cannot be read; `null` when it can. @throws OpsError for a stream that the service does not read */
export const problemOf = (event: StoredEvent, owner: string): string | null => {
  const catalogue = catalogueOf(event.stream);
  if (!catalogue) throw new OpsError(`The service does not read ${event.stream}.`);
  const decoded = decodeOrShow(catalogue, event);
  if (isOpaque(decoded) && decoded.problem !== null) return decoded.problem;
  try {
    requireWorkspace(event, owner);
    return null;
  } catch (error) {
    if (!(error instanceof CorruptEvent)) throw error;
    return error.reason;
  }
};

/** Whether a newer version of the program may understand an event. */
export const mayBeNewerThanThis = (event: StoredEvent): boolean => {
  const catalogue = catalogueOf(event.stream);
  return catalogue !== null && mayBeNewer(catalogue, event);
};

/** The command that shows what setting an event aside would do. */
export const wayAround = (place: string): string => `ops parked set-aside ${place} --reason "…"`;
