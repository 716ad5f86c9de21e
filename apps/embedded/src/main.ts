import { ConfigError, configHelp } from '#platform/config/load-config.js';
import { settings } from '../../service/src/settings.js';
import { dataDirOf, StackError } from './data-folder.js';
import { banner, demoPortalLink, firstSteps, openDemoWorkspace, portalStep } from './first-start.js';
import { Stack } from './stack.js';
import { OWN_SETTINGS } from './secrets.js';

const HELP = `Starts the whole service on this machine (Linux or macOS): PostgreSQL, event store, API and worker.

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

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const complain = (error: unknown): void => {
  const expected = error instanceof StackError || error instanceof ConfigError;
  const text =
    error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
};

// A closed terminal or pipe must not crash the stack; a closed terminal also sends SIGHUP.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const run = async (): Promise<void> => {
  const begin = performance.now();
  let stopping = false;
  const stop = async (exitCode: number): Promise<void> => {
    // Under npm, Ctrl-C arrives twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    say('Stopping…');
    await stack.stop();
    say('Stopped.');
    process.exit(exitCode);
  };
  const stack = new Stack({
    dataDir: dataDirOf(process.env),
    environment: process.env,
    say,
    onFailure: (message) => {
      complain(new StackError(message));
      void stop(1);
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
  if (process.env['EXIT_WITH_PARENT'] === '1') process.stdin.on('end', () => void stop(0)).resume();
  for (const name of OWN_SETTINGS)
    if (process.env[name]) say(`${name} is ignored: the embedded stack sets it.`);

  try {
    const running = await stack.start();
    const hasDemo = process.env['EMBEDDED_SKIP_DEMO_WORKSPACE'] !== '1';
    const workspace = hasDemo ? await openDemoWorkspace(running) : undefined;
    say(banner(running, ((performance.now() - begin) / 1000).toFixed(1)));
    if (workspace) say(firstSteps(running, workspace));
    const link = hasDemo ? await demoPortalLink(running) : undefined;
    if (link) say(portalStep(running, link));
  } catch (error) {
    // A signal during the start also makes it fail.
    if (stopping) return;
    stopping = true;
    complain(error);
    await stack.stop();
    process.exit(1);
  }
};

const args = process.argv.slice(2);
const unknown = args.find((argument) => argument !== '--help' && argument !== '-h');
if (unknown !== undefined) {
  process.stderr.write(`Unknown argument ${unknown}; see --help.\n`);
  process.exitCode = 1;
} else if (args.length > 0) process.stdout.write(HELP);
else await run();
