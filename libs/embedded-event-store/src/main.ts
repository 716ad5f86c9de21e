#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArguments, USAGE, type ServeCommand, type VerifyCommand } from './command-line.js';
import { startEmbeddedEventStore, UnusableDataError } from './index.js';
import { verifyApart, VERIFYING } from './operator/verify-apart.js';
import { verifyFolder } from './operator/verify.js';

/** Exits with status 1 and one line on standard error. */
const fail = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const explain = (error: unknown): string => {
  if (error instanceof UnusableDataError) return error.message;
  return `The event store could not start: ${error instanceof Error ? error.message : String(error)}`;
};

/** The login that callers must present: from the file, else from the environment, else none. */
const loginOf = ({ userFile }: ServeCommand): { username: string; password: string } | undefined => {
  const text = userFile === undefined ? process.env['EVENT_STORE_USER'] : readFileSync(userFile, 'utf8');
  if (text === undefined || text === '') return undefined;
  const [, username, password] = /^([^:\s]+):(.+)$/m.exec(text.trim()) ?? [];
  if (username === undefined || password === undefined)
    return fail('The login must have the form name:password.');
  return { username, password };
};

const serve = async (command: ServeCommand): Promise<void> => {
  const { data, port, host, commitTimeoutMs, exitWithParent } = command;
  const login = loginOf(command);
  const store = await startEmbeddedEventStore({
    dataDir: data,
    port,
    host,
    limits: commitTimeoutMs === undefined ? {} : { commitTimeoutMs },
    ...(command.tls && {
      tls: { cert: readFileSync(command.tls.certFile), key: readFileSync(command.tls.keyFile) },
    }),
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
  if (exitWithParent) process.stdin.on('end', stop).on('close', stop).on('error', stop).resume();
  const line = { event: 'listening', host: store.host, port: store.port, pid: process.pid };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/** Status 1 after findings. */
const verify = async ({ data, json }: VerifyCommand): Promise<void> => {
  const isApart = process.env[VERIFYING] !== undefined;
  const found = isApart ? await verifyFolder(data) : await verifyApart(process.argv[1]!, data);
  const { events, streams, findings, listed } = found;
  const summary = `Verified: ${events} events in ${streams} streams, ${findings} findings.`;
  process.stdout.write(`${json ? JSON.stringify(found) : [summary, ...listed].join('\n')}\n`);
  process.exitCode = findings > 0 ? 1 : 0;
};

const main = async (): Promise<void> => {
  const command = parseArguments(process.argv.slice(2));
  switch (command.kind) {
    case 'help':
      process.stdout.write(USAGE);
      return;
    case 'invalid':
      return fail(`${command.problem}\n\n${USAGE}`);
    case 'serve':
      return serve(command);
    case 'verify':
      return verify(command);
  }
};

main().catch((error: unknown) => fail(explain(error)));
