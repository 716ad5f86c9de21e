import type { Logger } from 'pino';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import type { StoreConnection } from '#event-sourcing/store/event-store.js';
import type { WorkLoop } from '../work/work-registry.js';

/** A process that has not stopped by then exits; others take over its work when its leases expire. */
const STOP_WITHIN_MS = 9_500;
/** Longest wait for open requests at shutdown (ms): enough for all but long polls, and the process then stops in time. */
export const DRAIN_WITHIN_MS = 8_000;

/**
 * Shuts the process down in an orderly way on SIGTERM or SIGINT and, when EXIT_WITH_PARENT=1, when its standard input
 * closes because the parent has ended. Exits 0 when `stop` finished, 1 when it failed or took too long.
 * @returns a function that stops the process for another reason, with its own exit code
 */
export const stopWhenTold = (
  log: Logger,
  environment: NodeJS.ProcessEnv,
  stop: () => Promise<void>,
): ((reason: string, exitCode: number) => void) => {
  let stopping = false;
  const begin = (reason: string, exitCode = 0): void => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => {
      log.error('did not stop in time');
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
    stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => begin('SIGTERM'));
  process.on('SIGINT', () => begin('SIGINT'));
  if (environment['EXIT_WITH_PARENT'] === '1') {
    process.stdin.on('end', () => begin('parent gone'));
    process.stdin.on('error', () => begin('parent gone'));
    process.stdin.resume();
  }
  return begin;
};

/**
 * The event-store client may reject promises of calls that we abandoned long ago. Those must not end the process. Any
 * other unhandled rejection must, because the process's state can no longer be trusted.
 */
export const surviveLateRejections = (log: Logger): void => {
  process.on('unhandledRejection', (error) => {
    if (isDependencyAway(error)) {
      log.warn({ reason: (error as Error).message }, 'a call given up earlier failed');
      return;
    }
    log.fatal({ err: error }, 'unhandled rejection');
    process.exit(1);
  });
};

/** Writes the JSON line to standard output that a supervisor waits for. */
export const announce = (details: Readonly<Record<string, unknown>>): void => {
  process.stdout.write(`${JSON.stringify({ ...details, pid: process.pid })}\n`);
};

const EVERY_MS = 1_000;

/**
 * Fails once the connection to the event store has been unusable continuously for `afterMs`. The process then ends and
 * its supervisor starts another, because not every supervisor restarts what a probe reports as stuck.
 * @param afterMs time for a probe to detect it first; 0 for a process without probes
 */
export const endBeyondHelp = (
  connection: Pick<StoreConnection, 'beyondHelp'>,
  afterMs: number,
): WorkLoop => ({
  name: 'event store connection',
  run: (signal) =>
    new Promise((resolve, reject) => {
      let since: number | null = null;
      const timer = setInterval(() => {
        since = connection.beyondHelp ? (since ?? performance.now()) : null;
        if (since === null || performance.now() - since < afterMs) return;
        clearInterval(timer);
        reject(new Error('The connection to the event store is unusable'));
      }, EVERY_MS);
      signal.addEventListener('abort', () => {
        clearInterval(timer);
        resolve();
      });
    }),
});
