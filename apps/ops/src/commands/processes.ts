import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { consumerLag, type ConsumerLag } from '@app/event-sourcing/projections/consumer-lag.js';
import {
  skipStopped,
  skippedEvents,
  stoppedStreams,
  type StoppedStream,
} from '@app/event-sourcing/processes/interventions.js';
import { replayStream } from '@app/event-sourcing/rebuilding/replay-stream.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { PROJECTIONS } from '../projections.js';
import { withSession, type Session } from '../session.js';
import { wholeNumber } from './options.js';
import { eventsBehind } from './projections/look.js';
import { withWorkshop } from './projections/workshop.js';

/** Longer than a consumer's pause between two attempts. */
const WAIT_SECONDS = 30;
const POLL_MS = 250;

/** The processes that react to events: their state, and how to resolve an event that one cannot handle. */
export const addProcessesCommands = (processes: Command): void => {
  processes.addHelpText(
    'after',
    `
A process that cannot handle an event halts there, alerts, and retries every few seconds. It never skips by itself.
A projection (projections list: on poison) parks the stream of such an event, with all later events in it, and continues.

Processes cannot be rebuilt, by design: their effects would happen a second time. Every backup needs
their checkpoints.`,
  );
  for (const add of [addList, addStatus, addParked, addRetry, addSkip]) add(processes);
};

const isProcess = ({ consumer }: ConsumerLag): boolean => PROJECTIONS.every(({ name }) => name !== consumer);

const addList = (processes: Command): void => {
  processes
    .command('list')
    .description('list the processes that have ever run')
    .action(async (_: object, command: Command) => {
      const found = await withSession(async ({ pool, store }) =>
        (await consumerLag(pool, store))
          .filter(isProcess)
          .map(({ consumer, status }) => ({ consumer, status })),
      );
      const rows = found.map(({ consumer, status }) => [consumer, status]);
      print(command, { processes: found }, table(['process', 'status'], rows));
    });
};

const addStatus = (processes: Command): void => {
  processes
    .command('status')
    .description('the position of each process, and why it halted; exit code 1 when one does not run')
    .addHelpText('after', '\nExample:\n  ops processes status --json')
    .action(async (_: object, command: Command) => {
      const found = await withSession(async ({ pool, store }) =>
        (await consumerLag(pool, store)).filter(isProcess),
      );
      const rows = found.map((lag) => [
        lag.consumer,
        lag.status,
        String(lag.position ?? ''),
        eventsBehind(lag),
        lag.seconds.toFixed(1),
        lag.error ?? '',
      ]);
      const head = ['process', 'status', 'position', 'events behind', 'seconds behind', 'halted at'];
      print(command, { processes: found }, table(head, rows));
      if (found.some(({ status }) => status !== 'running')) process.exitCode = 1;
    });
};

const addParked = (processes: Command): void => {
  processes
    .command('parked')
    .description('streams at which processes halted or that projections parked, and earlier skips')
    .argument('[consumer]', 'a process or projection; default: all')
    .addHelpText('after', '\nExample:\n  ops processes parked readings.reading.v1')
    .action(async (consumer: string | undefined, _: object, command: Command) => {
      const { stopped, skipped } = await withSession(async ({ pool }) => ({
        stopped: await stoppedStreams(pool, consumer ?? null),
        skipped: await skippedEvents(pool, consumer ?? null),
      }));
      const text = [
        table(
          ['consumer', 'state', 'stream', 'events', 'since', 'error'],
          stopped.map((one) => [
            one.consumer,
            one.state,
            one.stream,
            one.events,
            one.since.toISOString(),
            one.error,
          ]),
        ),
        '',
        table(
          ['skipped by', 'consumer', 'stream', 'position', 'when', 'why'],
          skipped.map((one) => [
            one.skippedBy,
            one.consumer,
            one.stream,
            String(one.position),
            one.skippedAt.toISOString(),
            one.reason,
          ]),
        ),
      ];
      print(command, { stopped, skipped }, text.join('\n'));
    });
};

const addRetry = (processes: Command): void => {
  processes
    .command('retry')
    .description('retry what is stopped: parked streams at once, a halted process at its next attempt')
    .argument('<consumer>', 'a process or projection')
    .option('--stream <stream>', 'only this stream')
    .option(
      '--wait <seconds>',
      'how long to wait for the next attempt of a process',
      wholeNumber,
      WAIT_SECONDS,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  ops processes retry billing.settlement.v1\n  ops processes retry readings.reading.v1 --stream reading-7f9c24e8-…',
    )
    .action(
      async (consumer: string, { stream, wait }: { stream?: string; wait: number }, command: Command) => {
        const retried = await withWorkshop(async (workshop, session) => {
          const stopped = await requireStopped(session, consumer, stream);
          for (const one of stopped) {
            if (one.state === 'halted') await untilPast(session, one, wait);
            else await replayStream(workshop, requireView(consumer), one.stream);
          }
          return stopped.map((one) => one.stream);
        });
        print(command, { consumer, retried }, `${consumer} has handled ${retried.join(', ')}`);
      },
    );
};

const addSkip = (processes: Command): void => {
  processes
    .command('skip')
    .description(
      'skip the event a process halted at, or a parked stream; who and why are recorded permanently',
    )
    .argument('<consumer>', 'a process or projection')
    .requiredOption('--stream <stream>', 'the stream where it stopped')
    .requiredOption('--reason <text>', 'why its effects may be missing')
    .addHelpText(
      'after',
      '\nExample:\n  ops processes skip billing.settlement.v1 --stream reading-7f9c24e8-… --reason "settled by hand, INC-42"',
    )
    .action(async (consumer: string, options: { stream: string; reason: string }, command: Command) => {
      const reason = options.reason.trim();
      if (reason === '') throw new OpsError('--reason must say why.');
      const skipped = await withSession(async (session) => {
        await requireStopped(session, consumer, options.stream);
        return skipStopped(session.pool, { consumer, stream: options.stream, by: session.actor, reason });
      });
      if (skipped === 0)
        throw new OpsError(
          `${consumer} has passed the event of ${options.stream} at which it halted. Nothing was skipped.`,
        );
      print(
        command,
        { consumer, stream: options.stream, skipped },
        `${consumer} continues without ${skipped} event${skipped === 1 ? '' : 's'} of ${options.stream}`,
      );
    });
};

/** @throws OpsError when nothing is stopped there */
const requireStopped = async (
  { pool }: Session,
  consumer: string,
  stream: string | undefined,
): Promise<readonly StoppedStream[]> => {
  const stopped = (await stoppedStreams(pool, consumer)).filter(
    (one) => stream === undefined || one.stream === stream,
  );
  if (stopped.length === 0)
    throw new OpsError(
      `${consumer} is not stopped${stream === undefined ? '' : ` at ${stream}`}: ops processes parked shows what is.`,
    );
  return stopped;
};

const requireView = (name: string) => {
  const found = PROJECTIONS.find((projection) => projection.name === name);
  if (!found)
    throw new OpsError(`${name} is not a projection: only streams that a projection parked can be replayed.`);
  return found;
};

/** @throws OpsError when the process is still halted at the event after this many seconds */
const untilPast = async ({ pool }: Session, stopped: StoppedStream, seconds: number): Promise<void> => {
  for (const deadline = Date.now() + seconds * 1_000; Date.now() < deadline; await delay(POLL_MS)) {
    const now = await stoppedStreams(pool, stopped.consumer);
    if (now.every(({ state, position }) => state !== 'halted' || position !== stopped.position)) return;
  }
  throw new OpsError(
    `${stopped.consumer} is still halted at ${stopped.error}. Is a worker running that can handle it?`,
  );
};
