#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { startEmbeddedEventStore, UnusableDataError } from './index.js';
import { verifyApart, VERIFYING, verifyFolder } from './operator/verify.js';

/** A whole number within these bounds. */
const wholeNumber = (least: number, most: number) => (text: string) => {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
  if (!(number >= least && number <= most))
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  return number;
};

interface ServeOptions {
  readonly data: string;
  readonly port: number;
  readonly host: string;
  readonly commitTimeout?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly userFile?: string;
  readonly exitWithParent?: true;
}

const program = new Command('embedded-event-store')
  .description(
    "A single-node store for a laptop, a demo, tests and CI that speaks EventStoreDB's gRPC protocol. It has no replication.",
  )
  .showHelpAfterError()
  .addHelpText(
    'after',
    `
When the server is ready, it prints one line of JSON on standard output:
  {"event":"listening","host":"127.0.0.1","port":2113,"pid":12345}
On SIGTERM or SIGINT it makes accepted appends durable and exits with status 0.

Examples:
  embedded-event-store --data ./data --port 2113
  embedded-event-store verify --data ./data --json
  embedded-event-store --data ./data --tls-cert node.crt --tls-key node.key --user-file ./login`,
  );

/** Status 1 and one line on standard error. */
const fail = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

/** The login that callers must present. */
const loginOf = ({ userFile }: ServeOptions): { username: string; password: string } | undefined => {
  if (userFile === undefined) return undefined;
  const [, username, password] = /^([^:\s]+):(.+)$/m.exec(readFileSync(userFile, 'utf8').trim()) ?? [];
  if (username === undefined || password === undefined)
    return fail('The login must have the form name:password.');
  return { username, password };
};

const serve = async (options: ServeOptions): Promise<void> => {
  const { data: dataDir, port, host, commitTimeout, tlsCert, tlsKey } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    program.error('error: --tls-cert and --tls-key must be given together');
  const login = loginOf(options);
  const store = await startEmbeddedEventStore({
    dataDir,
    port,
    host,
    limits: commitTimeout === undefined ? {} : { commitTimeoutMs: commitTimeout },
    ...(tlsCert && tlsKey && { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } }),
    ...(login && { login }),
  });
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
  if (options.exitWithParent) process.stdin.on('end', stop).on('close', stop).on('error', stop).resume();
  const line = { event: 'listening', host: store.host, port: store.port, pid: process.pid };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/** Status 1 after findings. */
const verify = async ({ data, json }: { readonly data: string; readonly json?: true }): Promise<void> => {
  const isApart = process.env[VERIFYING] !== undefined;
  const found = isApart ? await verifyFolder(data) : await verifyApart(process.argv[1]!, data);
  const { events, streams, findings, listed } = found;
  const summary = `Verified: ${events} events in ${streams} streams, ${findings} findings.`;
  process.stdout.write(`${json ? JSON.stringify(found) : [summary, ...listed].join('\n')}\n`);
  process.exitCode = findings > 0 ? 1 : 0;
};

program
  .command('serve', { isDefault: true })
  .description('serve a data folder; the default command')
  .requiredOption('--data <folder>', 'data folder; created if missing')
  .option('--port <n>', 'TCP port; 0 lets the system choose one', wholeNumber(0, 65_535), 2113)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option(
    '--commit-timeout <ms>',
    'milliseconds after which an unfinished write is reported as timed out; 2000 unless given',
    wholeNumber(1, 999_999),
  )
  .option('--tls-cert <file>', 'certificate in PEM; with --tls-key, the server accepts TLS only')
  .option('--tls-key <file>', 'private key of the certificate, in PEM')
  .option(
    '--user-file <file>',
    'require a login; the file holds one line, name:password, because others can read arguments',
  )
  .option('--exit-with-parent', 'stop when standard input closes, so that no process is left running')
  .action(serve);

program
  .command('verify')
  .description(
    "check every record's checksum, the index and the heads, also while a server runs; status 1 on findings",
  )
  .requiredOption('--data <folder>', 'data folder')
  .option('--json', 'print the results as one JSON object')
  .action(verify);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof UnusableDataError) return fail(error.message);
  return fail(`The event store could not start: ${error instanceof Error ? error.message : String(error)}`);
});
