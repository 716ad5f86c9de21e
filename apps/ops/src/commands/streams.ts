import type { Command } from 'commander';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { withSession } from '../session.js';

const MOST = 1_000;

export const addStreamsCommands = (ops: Command): void => {
  ops
    .command('streams')
    .description('read event streams')
    .command('show')
    .description(`the events of one stream, oldest first, at most ${MOST}; personal data stays sealed`)
    .argument('<stream>', 'such as reading-<readingId> or credits-<workspaceId>')
    .addHelpText('after', '\nExample:\n  ops streams show credits-ws_…')
    .action(async (stream: string, _: object, command: Command) => {
      const events = await withSession(async ({ store }) => {
        const found: StoredEvent[] = [];
        for await (const event of store.read(stream, { limit: MOST })) found.push(event);
        return found;
      });
      if (events.length === 0) throw new OpsError(`There is no stream ${stream}.`);
      print(command, { stream, events }, events.map(describe).join('\n'));
    });
};

const describe = ({ revision, type, id, data, metadata }: StoredEvent): string =>
  [
    `${revision}  ${type}  ${metadata.occurredAt}  by ${metadata.actor}`,
    `   id ${id}  caused by ${metadata.causationId}`,
    `   ${JSON.stringify(data)}`,
  ].join('\n');
