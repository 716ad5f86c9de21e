import type { Command } from 'commander';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { placeText } from '#event-sourcing/projections/parked-streams.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { printable } from '#platform/text/printable.js';
import { OpsError, print, tableOf } from '../output.js';
import { withSession } from '../session.js';
import { catalogueOf, ownerOf, problemOf, shownEvent } from '../shown-event.js';
import { parseInstant, wholeNumber } from './options.js';

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
      print(command, { stream, events }, events.map(describe));
    });
};

const describe = ({ revision, type, id, data, metadata, setAside, problem }: ListedEvent): string => {
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

interface Options extends Choice {
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
    .action(async ({ since, limit, ...choice }: Options, command: Command) => {
      if (Object.keys(choice).every((name) => name === 'json'))
        throw new OpsError(
          'Say what to look for: --category, --type, --workspace, --actor, --correlation or --id.',
        );
      const events = await withSession(({ store }) => find(store, choice, { since, limit }));
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
export const find = async (
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

export const commands = { streams: addStreamsCommands };
