import { configHelp } from '#platform/config/load-config.js';
import { settings } from '../../service/src/settings.js';

export const HELP = `Starts the whole service on this machine (Linux or macOS): PostgreSQL, event store, API and worker.

  npm start

Settings are environment variables. The stack's own settings:

  DATA_DIR                           folder for all data [.data]
  EMBEDDED_SKIP_DEMO_WORKSPACE       1: do not create a demo workspace on the first start [0]
  EMBEDDED_EVENT_STORE_COMMAND       starts another event store in place of the embedded one: a command line with
                                     {port} and {data}; it serves 127.0.0.1 without TLS and login
  EMBEDDED_WITHOUT                   api, worker or api,worker: not started, for those who start them elsewhere, with
                                     the settings in DATA_DIR/environment
  EXIT_WITH_PARENT                   1: stop when standard input closes, for programs that start the stack [0]

The stack sets DATABASE_URL, DATABASE_OWNER_URL and EVENTSTORE_URL itself.
It generates ENCRYPTION_KEYS and DIGEST_KEY on the first start.
All other settings configure the service:

${configHelp(settings)}
`;

/** @returns the requested action, or the first unknown argument */
export const parseArguments = (args: readonly string[]): 'start' | 'help' | { readonly unknown: string } => {
  const unknown = args.find((argument) => argument !== '--help' && argument !== '-h');
  if (unknown !== undefined) return { unknown };
  return args.length > 0 ? 'help' : 'start';
};
