import { parseArguments, USAGE } from './command-line.js';
import { startEmbeddedEventStore, UnusableDataError } from './index.js';

const BANNER =
  'Embedded event store: one node, no authentication, for a laptop, a demo, tests and CI. Ctrl-C stops it.\n';

/** Ends with one line on standard error and status 1. */
const fail = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const explain = (error: unknown): string => {
  if (error instanceof UnusableDataError) return error.message;
  return `The event store could not start: ${error instanceof Error ? error.message : String(error)}`;
};

const main = async (): Promise<void> => {
  const parsed = parseArguments(process.argv.slice(2));
  if (parsed.kind === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  if (parsed.kind === 'invalid') fail(`${parsed.problem}\n\n${USAGE}`);
  else {
    const { data, port, host, systemLinks, exitWithParent } = parsed;
    const store = await startEmbeddedEventStore({ dataDir: data, port, host, systemLinks });
    let stopping = false;
    const stop = (): void => {
      if (stopping) return;
      stopping = true;
      store.stop().then(
        () => process.exit(0),
        (error: unknown) => fail(`The event store did not stop cleanly: ${String(error)}`),
      );
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    if (exitWithParent) process.stdin.on('end', stop).on('close', stop).on('error', stop).resume();
    const line = { event: 'listening', host: store.host, port: store.port, pid: process.pid };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    if (process.stderr.isTTY) process.stderr.write(BANNER);
  }
};

main().catch((error: unknown) => fail(explain(error)));
