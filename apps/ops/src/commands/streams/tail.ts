import type { Command } from 'commander';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { shownEvent } from '../../shown-event.js';
import { wholeNumber } from '../options.js';
import { isChosen, line, type Choice } from './choice.js';

export const addTail = (streams: Command): void => {
  streams
    .command('tail')
    .description('events as they are appended, until interrupted; with --json one JSON value per line')
    .option('--category <category>', 'only streams of this category, such as reading')
    .option('--type <type>', 'only events of this type')
    .option('--workspace <id>', 'only events of this workspace')
    .option('--count <n>', 'end after this many events', wholeNumber)
    .addHelpText(
      'after',
      '\nExamples:\n  ops streams tail --category credits\n  ops streams tail --type ReadingFailed --count 1 --json',
    )
    .action(async ({ count = Infinity, ...choice }: Choice & { count?: number }, command: Command) => {
      await withSession(async ({ store }) => {
        const categories = choice.category === undefined ? [] : [choice.category];
        const subscription = store.subscribe({ after: await store.head(), categories });
        const interrupted = (): void => void subscription.close();
        process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
        try {
          let seen = 0;
          for await (const event of subscription) {
            if (!isChosen(choice, event)) continue;
            print(command, shownEvent(event), line(event));
            seen += 1;
            if (seen >= count) break;
          }
        } finally {
          process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
          await subscription.close();
        }
      });
    });
};
