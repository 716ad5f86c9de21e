import { Option, type Command } from 'commander';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { DeliveryOfReading } from '#webhooks/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { withSession } from '../session.js';
import { aboutReading } from './events/about-reading.js';
import { drawStory, tellStory, type Chapter } from './events/story.js';
import { parseInstant } from './options.js';

interface Options {
  readonly reading?: string;
  readonly correlation?: string;
  readonly since?: number;
  readonly format: 'table' | 'mermaid' | 'json';
}

/** Everything that happened to one reading or request, across modules. */
export const addEventsCommand = (events: Command): void => {
  events
    .option(
      '--reading <id>',
      'every event about this reading: its own, its publication’s, its credits’, and its webhook deliveries',
    )
    .option('--correlation <id>', 'every event with this correlation id; reads the log')
    .option('--since <instant>', 'with --correlation: how far back to read the log', parseInstant)
    .addOption(
      new Option('--format <format>', 'output format').choices(['table', 'mermaid', 'json']).default('table'),
    )
    .addHelpText(
      'after',
      `
Examples:
  ops events --reading 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11
  ops events --reading 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --format mermaid > story.mmd
  ops events --correlation req_… --since 2026-04-12 --format json`,
    )
    .action(async ({ reading, correlation, since, format }: Options, command: Command) => {
      if ((reading === undefined) === (correlation === undefined))
        throw new OpsError('Choose either --reading <id> or --correlation <id>.');
      const { events, deliveries } = await withSession(async ({ store, queries }) => {
        if (reading === undefined)
          return { events: await ofCorrelation(store, correlation!, since), deliveries: [] };
        return aboutReading({ store, queries }, reading);
      });
      if (events.length === 0)
        throw new OpsError(`There is no event of ${reading ?? `the correlation id ${correlation}`}.`);
      const story = tellStory(events);
      const text = format === 'mermaid' ? drawStory(story, deliveries) : asText(story, deliveries);
      print(format === 'json' ? asJson(command) : command, { events: story, deliveries }, text);
    });
};

const ofCorrelation = async (
  store: EventStore,
  correlationId: string,
  since: number | undefined,
): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  for await (const event of store.readAll({ direction: 'backwards' })) {
    if (since !== undefined && Date.parse(event.metadata.occurredAt) < since) break;
    if (event.metadata.correlationId === correlationId) found.push(event);
  }
  return found;
};

const asTable = (story: readonly Chapter[]): string =>
  table(
    ['at', 'after ms', 'event', 'type', 'by', 'caused by'],
    story.map(({ occurredAt, afterMs, stream, revision, type, actor, cause }) => [
      occurredAt,
      afterMs,
      `${stream}@${revision}`,
      type,
      actor || 'unknown',
      cause.type ?? (cause.id || 'unknown'),
    ]),
  );

const asText = (story: readonly Chapter[], deliveries: readonly DeliveryOfReading[]): string =>
  deliveries.length === 0 ? asTable(story) : `${asTable(story)}\n\n${deliveryTable(deliveries)}`;

const deliveryTable = (deliveries: readonly DeliveryOfReading[]): string =>
  table(
    ['delivered at', 'webhook', 'endpoint', 'status', 'attempts'],
    deliveries.map(({ settledAt, eventType, endpointId, status, attempts }) => [
      settledAt ?? '',
      eventType,
      endpointId,
      status,
      attempts,
    ]),
  );

/** `--format json` is an alias of `--json`. */
const asJson = (command: Command): Command => {
  command.setOptionValue('json', true);
  return command;
};
