import { InvalidArgumentError, type Command } from 'commander';
import {
  correctionEvents,
  creditsEvents,
  orderLineEvents,
  testBookEvents,
  bookStream,
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
import { categoryOf, streamName } from '#event-sourcing/core/stream-name.js';
import { type Place, placeText } from '#event-sourcing/projections/parked-streams.js';
import { setAsideEvents } from '#event-sourcing/projections/set-aside.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { batchEvents, readingEvents } from '#readings/contracts/index.js';
import {
  webhookEndpointEvents,
  type DeliveryOfReading,
  ListDeliveriesOfReading,
} from '#webhooks/contracts/index.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';
import { OpsError, type Columns, print, tableOf } from '../output.js';
import { type Session, withSession } from '../session.js';
import { printable } from '#platform/text/printable.js';
import { example, parseInstant, wholeNumber } from './options.js';

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

/** Everything that happened to one reading, across modules. */
const addEventsCommand = (events: Command): void => {
  events
    .requiredOption('--reading <id>', 'every event about this reading, in all modules, and its deliveries')
    .addHelpText('after', example('events --reading 7f9c24e8-…'))
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

/** The events in log order without duplicates, each with its cause looked up among them. */
export const tellStory = (events: readonly StoredEvent[]) => {
  const byId = new Map(events.map((event) => [event.id, event]));
  const ordered = [...byId.values()].sort((one, other) => (one.position < other.position ? -1 : 1));
  const startedAt = Date.parse(ordered[0]?.metadata.occurredAt ?? '');
  return ordered.map(({ id: eventId, stream, revision, position, type, metadata }) => {
    const { occurredAt, actor, correlationId, causationId } = metadata;
    const cause = byId.get(causationId);
    return {
      position,
      occurredAt,
      /** Time since the first event of the story. */
      afterMs: Date.parse(occurredAt) - startedAt,
      stream,
      revision,
      type,
      eventId,
      actor,
      correlationId,
      /** An event of the story, or another recorded cause: a request, a command, an event outside the story. */
      cause: { id: causationId, type: cause?.type ?? null, stream: cause?.stream ?? null },
    };
  });
};

export const STORY_COLUMNS: Columns<ReturnType<typeof tellStory>[number]> = {
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
  streams
    .command('show')
    .description(`the events of one stream, oldest first, at most ${MOST}`)
    .argument('<stream>', 'such as reading-<readingId> or credits-<workspaceId>')
    .option('--newest', `the newest ${MOST} instead of the oldest`)
    .addHelpText('after', example('streams show credits-ws_… --newest --json'))
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
    .addHelpText('after', example('streams find --type ReadingFailed --since 2026-04-01'))
    .action(async ({ since, limit, ...choice }: FindOptions, command: Command) => {
      if (Object.keys(choice).length === 0)
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
