import type { Command } from 'commander';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { shownEvent } from '../../shown-event.js';
import { parseInstant, wholeNumber } from '../options.js';
import { isChosen, type Choice } from './choice.js';

const LIMIT = 50;

interface Options extends Choice {
  readonly since?: number;
  readonly limit: number;
}

export const addFind = (streams: Command): void => {
  streams
    .command('find')
    .description('events anywhere in the log, newest first; reads backwards until it has enough')
    .option('--category <category>', 'only streams of this category, such as reading')
    .option('--type <type>', 'only this type, such as ReadingFailed')
    .option('--workspace <id>', 'only this workspace')
    .option('--actor <actor>', 'only events caused by this actor, such as operator:ada or apiKey:Ab3dE6gH')
    .option('--correlation <id>', 'only this correlation id')
    .option('--id <uuid>', 'the event with this id')
    .option(
      '--since <instant>',
      'only events at this time or later; the log is read no further back',
      parseInstant,
    )
    .option('--limit <n>', 'at most this many', wholeNumber, LIMIT)
    .addHelpText(
      'after',
      '\nExamples:\n  ops streams find --type ReadingFailed --since 2026-04-01\n  ops streams find --actor operator:ada --limit 10 --json',
    )
    .action(async ({ since, limit, ...choice }: Options, command: Command) => {
      if (Object.keys(choice).every((name) => name === 'json'))
        throw new OpsError(
          'Say what to look for: --category, --type, --workspace, --actor, --correlation or --id.',
        );
      const events = await withSession(({ store }) => find(store, choice, { since, limit }));
      const rows = events.map(({ position, stream, revision, type, id, metadata }) => [
        String(position),
        metadata.occurredAt,
        `${stream}@${revision}`,
        type,
        metadata.actor,
        id,
      ]);
      print(command, { events }, table(['position', 'at', 'event', 'type', 'by', 'id'], rows));
    });
};

/**
 * Events of a choice, newest first. Their time is the store's, because a writer may date an event as it likes. Without
 * the store's time, the whole log is read.
 */
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
