import { configHelp } from '@app/platform/config/load-config.js';
import { settings } from '../../service/src/settings.js';

export const HELP = `Starts the whole service on this machine (Linux or macOS): PostgreSQL, event store, API and worker.

  npm start

Settings are environment variables. The stack itself knows:

  DATA_DIR                           where everything is kept [.data]
  EMBEDDED_SKIP_DEMO_WORKSPACE       1: the first start opens no demo workspace [0]
  EXIT_WITH_PARENT                   1: stop when standard input ends, for programs that start the stack [0]

It decides DATABASE_URL, DATABASE_OWNER_URL and EVENTSTORE_URL itself, and generates ENCRYPTION_KEYS and DIGEST_KEY at the first start.
All other settings are those of the service:

${configHelp(settings)}
`;

/** @returns what the arguments ask for; anything but `--help` is refused, by name. */
export const parseArguments = (args: readonly string[]): 'start' | 'help' | { readonly unknown: string } => {
  const unknown = args.find((argument) => argument !== '--help' && argument !== '-h');
  if (unknown !== undefined) return { unknown };
  return args.length > 0 ? 'help' : 'start';
};
