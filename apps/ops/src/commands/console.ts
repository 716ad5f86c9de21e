import type { Command } from 'commander';
import { print } from '../output.js';
import { withSession } from '../session.js';
import { wholeFrom } from './options.js';
import { parseZone } from './workspace.js';

const addConsoleCommand = (console: Command): void => {
  console
    .option('--port <port>', 'port on 127.0.0.1; default: a free one', wholeFrom(1, 65_535), 0)
    .option('--zone <zone>', 'time zone of the pages, as Europe/Paris', parseZone, 'UTC')
    .addHelpText(
      'after',
      `
Only this machine reaches the pages. The link works once, within 60 seconds. The console ends with Ctrl-C, after 8 hours,
or when nobody opens the link.

Example:
  ops console --port 8500     then, elsewhere: ssh -L 8500:127.0.0.1:8500 <this machine>`,
    )
    .action(async ({ port, zone }: { port: number; zone: string }, command: Command) => {
      await withSession(async (session) => {
        // Loaded late: pages need what no other command does.
        const { Console } = await import('../console/console.js');
        const pages = new Console(session, port, zone);
        const { ended, ...link } = await pages.open();
        const stop = (): void => pages.close();
        process.once('SIGINT', stop).once('SIGTERM', stop);
        try {
          print(command, link, link.url);
          await ended;
        } finally {
          process.off('SIGINT', stop).off('SIGTERM', stop);
          pages.close();
        }
      });
    });
};

export const commands = { console: addConsoleCommand };
