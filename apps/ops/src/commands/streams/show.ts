import type { Command } from 'commander';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { printable } from '#platform/text/printable.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { shownActor, shownCause, shownEvent } from '../../shown-event.js';
import { catalogueOf } from '../../catalogues.js';
import { ownerOf, problemOf } from '../parked/event.js';

const MOST = 1_000;

/** @param problem why it cannot be read; `null` when it can */
type ListedEvent = StoredEvent & { readonly problem: string | null };

export const addShow = (streams: Command): void => {
  streams
    .command('show')
    .description(`the events of one stream, oldest first, at most ${MOST}`)
    .argument('<stream>', 'such as reading-<readingId> or credits-<workspaceId>')
    .option('--newest', `the newest ${MOST} instead of the oldest`)
    .addHelpText(
      'after',
      '\nExamples:\n  ops streams show credits-ws_…\n  ops streams show credits-ws_… --newest --json',
    )
    .action(async (stream: string, { newest }: { newest?: true }, command: Command) => {
      const { events, owner } = await withSession(async ({ store }) => {
        const found: ListedEvent[] = [];
        const owner = await ownerOf(store, stream);
        const direction = newest ? 'backwards' : 'forwards';
        for await (const event of store.read(stream, { limit: MOST, direction }))
          found.push({ ...shownEvent(event), problem: catalogueOf(stream) ? problemOf(event, owner) : null });
        return { events: newest ? found.toReversed() : found, owner };
      });
      if (events.length === 0) throw new OpsError(`There is no stream ${stream}.`);
      print(command, { stream, events }, events.map((event) => describe(event, owner)).join('\n'));
    });
};

const describe = (event: ListedEvent, owner: string): string => {
  const { revision, type, id, data, metadata, setAside, problem } = event;
  return [
    `${revision}  ${type}  ${metadata.occurredAt}  by ${printable(shownActor(event, owner))}`,
    `   id ${id}  caused by ${printable(shownCause(event))}`,
    `   ${JSON.stringify(data)}`,
    ...(problem === null ? [] : [`   cannot be read: ${problem}`]),
    ...(setAside ? [`   set aside by ${setAside.by}: ${printable(setAside.reason)}`] : []),
  ].join('\n');
};
