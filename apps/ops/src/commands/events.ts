import type { Command } from 'commander';
import { bookStream } from '#billing/contracts/index.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';
import { type DeliveryOfReading, ListDeliveriesOfReading } from '#webhooks/contracts/index.js';
import { type Columns, OpsError, print, tableOf } from '../output.js';
import { type Session, withSession } from '../session.js';
import { placeText } from '#event-sourcing/projections/parked-streams.js';
import { printable } from '#platform/text/printable.js';
import { catalogueOf, ownerOf, problemOf, shownEvent } from '../shown-event.js';
import { parseInstant, wholeNumber } from './options.js';

/** Everything that happened to one reading, across modules. */
const addEventsCommand = (events: Command): void => {
  events
    .requiredOption('--reading <id>', 'every event about this reading, in all modules, and its deliveries')
    .addHelpText('after', '\nExample:\n  ops events --reading 7f9c24e8-…')
    .action(async ({ reading }: { reading: string }, command: Command) => {
      const { events, deliveries } = await withSession((session) => aboutReading(session, reading));
      if (events.length === 0) throw new OpsError(`There is no event of ${reading}.`);
      const story = tellStory(events);
      const tables = [
        tableOf(story, STORY_COLUMNS),
        ...(deliveries.length > 0 ? ['', tableOf(deliveries, DELIVERY_COLUMNS)] : []),
      ];
      print(command, { events: story, deliveries }, tables);
    });
};

/** Credits are reserved at most this long before a reading is requested (ms). */
const RESERVED_BEFORE_MS = 300_000;

/** Every event about a reading, across modules, and its webhook deliveries. Empty: there is no such reading. */
export const aboutReading = async (
  { store, queries }: Pick<Session, 'store' | 'queries'>,
  readingId: string,
): Promise<{ events: readonly StoredEvent[]; deliveries: readonly DeliveryOfReading[] }> => {
  const events = await ofReading(store, readingId);
  if (events.length === 0) return { events, deliveries: [] };
  return { events, deliveries: await queries.execute(new ListDeliveriesOfReading(readingId)) };
};

/** The reading's two streams, and the events of its workspace's live and test book that name it or its reservation. */
const ofReading = async (store: EventStore, readingId: string): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  for (const category of [readingEvents.category, publicationEvents.category])
    for await (const event of store.read(streamName(category, readingId))) found.push(event);
  const first = found[0];
  if (!first) return [];
  const since = Date.parse(first.metadata.occurredAt) - RESERVED_BEFORE_MS;
  const reservations = new Set(found.map(({ data }) => (data as { reservationId?: string }).reservationId));
  for (const livemode of [true, false]) {
    const book = bookStream(first.metadata.workspaceId, livemode);
    for await (const event of store.read(book, { direction: 'backwards' })) {
      if (Date.parse(event.metadata.occurredAt) < since) break;
      const about = event.data as { readingId?: string; reservationId?: string };
      if (about.readingId === readingId || (about.reservationId && reservations.has(about.reservationId)))
        found.push(event);
    }
  }
  return found;
};

/** An event of a story, with its cause. */
export interface Chapter {
  readonly position: bigint;
  readonly occurredAt: string;
  /** Time since the first event of the story. */
  readonly afterMs: number;
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  readonly eventId: string;
  readonly actor: string;
  readonly correlationId: string;
  /** An event of the story, or another recorded cause: a request, a command, an event outside the story. */
  readonly cause: { readonly id: string; readonly type: string | null; readonly stream: string | null };
}

/** The events in log order without duplicates, each with its cause looked up among them. */
export const tellStory = (events: readonly StoredEvent[]): readonly Chapter[] => {
  const byId = new Map(events.map((event) => [event.id, event]));
  const ordered = [...byId.values()].sort((one, other) => (one.position < other.position ? -1 : 1));
  const startedAt = Date.parse(ordered[0]?.metadata.occurredAt ?? '');
  return ordered.map(({ id: eventId, stream, revision, position, type, metadata }) => {
    const { occurredAt, actor, correlationId, causationId } = metadata;
    const cause = byId.get(causationId);
    return {
      position,
      occurredAt,
      afterMs: Date.parse(occurredAt) - startedAt,
      stream,
      revision,
      type,
      eventId,
      actor,
      correlationId,
      cause: { id: causationId, type: cause?.type ?? null, stream: cause?.stream ?? null },
    };
  });
};

export const STORY_COLUMNS: Columns<Chapter> = {
  at: 'occurredAt',
  'after ms': 'afterMs',
  event: ({ stream, revision }) => `${stream}@${revision}`,
  type: 'type',
  by: ({ actor }) => actor || 'unknown',
  'caused by': ({ cause }) => cause.type ?? (cause.id || 'unknown'),
};

export const DELIVERY_COLUMNS: Columns<DeliveryOfReading> = {
  'delivered at': 'settledAt',
  webhook: 'eventType',
  endpoint: 'endpointId',
  status: 'status',
  attempts: 'attempts',
};

/** `apiKey:Ab3d` is shown as `apiKey`. */
export const kindOf = (actor: string): string => actor.split(':')[0] || 'unknown';

/** Commands that read the log itself. Personal data stays sealed in their output. */
const addStreamsCommands = (streams: Command): void => {
  for (const add of [addShow, addFind]) add(streams);
};

/** Which events an operator wants to see; an absent member matches every event. */
interface Choice {
  readonly category?: string;
  readonly type?: string;
  readonly workspace?: string;
  readonly actor?: string;
  readonly correlation?: string;
  readonly id?: string;
}

const isChosen = (
  { category, type, workspace, actor, correlation, id }: Choice,
  event: StoredEvent,
): boolean =>
  [
    [category, categoryOf(event.stream)],
    [type, event.type],
    [workspace, event.metadata.workspaceId],
    [actor, event.metadata.actor],
    [correlation, event.metadata.correlationId],
    [id, event.id],
  ].every(([wanted, given]) => wanted === undefined || wanted === given);

const MOST = 1_000;

/** @param problem why it cannot be read; `null` when it can */
type ListedEvent = StoredEvent & { readonly problem: string | null };

const addShow = (streams: Command): void => {
  streams
    .command('show')
    .description(`the events of one stream, oldest first, at most ${MOST}`)
    .argument('<stream>', 'such as reading-<readingId> or credits-<workspaceId>')
    .option('--newest', `the newest ${MOST} instead of the oldest`)
    .addHelpText('after', '\nExample:\n  ops streams show credits-ws_… --newest --json')
    .action(async (stream: string, { newest }: { newest?: true }, command: Command) => {
      const events = await withSession(async ({ store }) => {
        const found: ListedEvent[] = [];
        const owner = await ownerOf(store, stream);
        const direction = newest ? 'backwards' : 'forwards';
        for await (const event of store.read(stream, { limit: MOST, direction }))
          found.push({ ...shownEvent(event), problem: catalogueOf(stream) ? problemOf(event, owner) : null });
        return newest ? found.toReversed() : found;
      });
      if (events.length === 0) throw new OpsError(`There is no stream ${stream}.`);
      print(command, { stream, events }, events.map(describeEvent));
    });
};

const describeEvent = ({ revision, type, id, data, metadata, setAside, problem }: ListedEvent): string => {
  const { occurredAt, actor, causationId } = metadata;
  return [
    `${revision}  ${type}  ${occurredAt}  by ${printable(actor || 'unknown')}`,
    `   id ${id}  caused by ${printable(causationId || 'unknown')}`,
    `   ${JSON.stringify(data)}`,
    ...(problem === null ? [] : [`   cannot be read: ${problem}`]),
    ...(setAside ? [`   set aside by ${setAside.by}: ${printable(setAside.reason)}`] : []),
  ].join('\n');
};

const LIMIT = 50;

interface FindOptions extends Choice {
  readonly since?: number;
  readonly limit: number;
}

const addFind = (streams: Command): void => {
  streams
    .command('find')
    .description('events anywhere in the log, newest first; reads backwards until it has enough')
    .option('--category <category>', 'only streams of this category, such as reading')
    .option('--type <type>', 'only this type, such as ReadingFailed')
    .option('--workspace <id>', 'only this workspace')
    .option('--actor <actor>', 'only events caused by this actor, such as operator:ada or apiKey:Ab3dE6gH')
    .option('--correlation <id>', 'only this correlation id')
    .option('--id <uuid>', 'the event with this id')
    .option('--since <instant>', 'only events at this time or later', parseInstant)
    .option('--limit <n>', 'at most this many', wholeNumber, LIMIT)
    .addHelpText('after', '\nExample:\n  ops streams find --type ReadingFailed --since 2026-04-01')
    .action(async ({ since, limit, ...choice }: FindOptions, command: Command) => {
      if (Object.keys(choice).every((name) => name === 'json'))
        throw new OpsError(
          'Say what to look for: --category, --type, --workspace, --actor, --correlation or --id.',
        );
      const events = await withSession(({ store }) => findEvents(store, choice, { since, limit }));
      const text = tableOf(events, {
        position: 'position',
        at: ({ metadata }) => metadata.occurredAt,
        event: placeText,
        type: 'type',
        by: ({ metadata }) => metadata.actor,
        id: 'id',
      });
      print(command, { events }, text);
    });
};

/** Newest first. Their time is the store's, if it has one: a writer may date an event as it likes. */
export const findEvents = async (
  store: EventStore,
  choice: Choice,
  { since, limit }: { since: number | undefined; limit: number },
): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  const isBefore = (time: number): boolean => since !== undefined && time < since;
  for await (const event of store.readAll({ direction: 'backwards' })) {
    const { recordedAt, metadata } = event;
    if (recordedAt !== undefined && isBefore(recordedAt)) break;
    const isOld = recordedAt === undefined && isBefore(Date.parse(metadata.occurredAt));
    if (!isOld && isChosen(choice, event)) found.push(shownEvent(event));
    if (found.length >= limit || (choice.id !== undefined && found.length > 0)) break;
  }
  return found;
};

/** By the names of the commands. */
export const commands = { events: addEventsCommand, streams: addStreamsCommands };
