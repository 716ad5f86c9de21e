import type { Command } from 'commander';
import { consumerLag, type ConsumerLag } from '@app/event-sourcing/projections/consumer-lag.js';
import {
  retriedStreams,
  skippedEvents,
  stoppedStreams,
} from '@app/event-sourcing/processes/interventions.js';
import { MODULES } from '../../../service/src/modules.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { PROJECTIONS } from '../projections.js';
import { withSession } from '../session.js';
import { someText, wholeNumber } from './options.js';
import { requireStopped, retryStopped } from './processes/retry.js';
import { eventsBehind } from './projections/look.js';
import { quarantineEvent } from './quarantine/add.js';
import { parsePlace, parseUntil } from './quarantine/place.js';

/** Longer than a consumer's pause between two attempts. */
const WAIT_SECONDS = 30;

/** The processes that react to events: their state, and how to resolve an event that one cannot handle. */
export const addProcessesCommands = (processes: Command): void => {
  processes.addHelpText(
    'after',
    `
A consumer that cannot handle an event parks its stream: this event and the later ones wait, the others continue. It
tries again every 30 seconds, and never skips by itself. It halts as a whole when the database refuses its work, or when
too many events keep streams parked (CONSUMER_PARKED_MAX).

Processes cannot be rebuilt, by design: their effects would happen a second time. Every backup needs
their checkpoints.`,
  );
  for (const add of [addList, addStatus, addParked, addRetry, addSkip]) add(processes);
};

export const isProcess = ({ consumer }: ConsumerLag): boolean =>
  PROJECTIONS.every(({ name }) => name !== consumer);

const CONSUMERS: readonly string[] = [
  ...PROJECTIONS.map(({ name }) => name),
  ...MODULES.flatMap(({ processes }) => Object.keys(processes)),
];

/** Takes the versions of a projection that are being built, too. @throws OpsError naming the known ones */
export const requireConsumer = (name: string): void => {
  if (CONSUMERS.includes(name.replace(/__v\d+$/, ''))) return;
  throw new OpsError(`There is no consumer ${name}. Known consumers: ${CONSUMERS.join(', ')}.`);
};

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
    .description('streams that consumers have parked or halted at, retries, and skips of older versions')
    .argument('[consumer]', 'a process or projection; default: all')
    .addHelpText('after', '\nExample:\n  ops processes parked readings.reading.v1')
    .action(async (consumer: string | undefined, _: object, command: Command) => {
      const { stopped, retried, skipped } = await withSession(async ({ pool }) => ({
        stopped: await stoppedStreams(pool, consumer ?? null),
        retried: await retriedStreams(pool, consumer ?? null),
        skipped: await skippedEvents(pool, consumer ?? null),
      }));
      // One of an older version may still have some.
      if (consumer !== undefined && stopped.length + retried.length + skipped.length === 0)
        requireConsumer(consumer);
      const text = [
        table(
          ['consumer', 'state', 'stream', 'because of', 'since', 'error'],
          stopped.map((one) => [
            one.consumer,
            one.state,
            one.stream,
            one.cause,
            one.since.toISOString(),
            one.error,
          ]),
        ),
        '',
        table(
          ['retried by', 'consumer', 'stream', 'because of', 'when', 'why'],
          retried.map((one) => [
            one.retriedBy,
            one.consumer,
            one.stream,
            one.cause,
            one.retriedAt.toISOString(),
            one.reason ?? '',
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
      print(command, { stopped, retried, skipped }, text.join('\n'));
    });
};

const addRetry = (processes: Command): void => {
  processes
    .command('retry')
    .description('retry what is stopped now: a projection at once, a process by its worker')
    .argument('<consumer>', 'a process or projection')
    .option('--stream <stream>', 'only this stream')
    .option('--reason <text>', 'why; recorded with your name', someText)
    .option('--wait <seconds>', 'how long to wait for a worker', wholeNumber, WAIT_SECONDS)
    .addHelpText(
      'after',
      '\nExamples:\n  ops processes retry billing.settlement.v1\n  ops processes retry readings.reading.v1 --stream reading-7f9c24e8-… --reason "the table is repaired, INC-42"',
    )
    .action(
      async (
        consumer: string,
        { stream, reason, wait }: { stream?: string; reason?: string; wait: number },
        command: Command,
      ) => {
        const wanted = { consumer, ...(stream !== undefined && { stream }) };
        const { before, left } = await withSession((session) =>
          retryStopped(session, wanted, reason ?? null, wait),
        );
        if (left.length > 0)
          throw new OpsError(
            `${consumer} is still ${left[0]!.state} at ${left[0]!.cause}: ${left[0]!.error}. Is a worker running that can handle it?`,
          );
        const retried = before.map((one) => one.stream);
        print(command, { consumer, retried }, `${consumer} has handled ${retried.join(', ')}`);
      },
    );
};

const addSkip = (processes: Command): void => {
  processes
    .command('skip')
    .description('quarantine the event that stops a consumer at a stream: the same as ops quarantine add')
    .argument('<consumer>', 'a process or projection')
    .requiredOption('--stream <stream>', 'the stream where it stopped')
    .requiredOption('--reason <text>', 'why its effects may be missing')
    .option('--until <day>', 'when doctor warns that somebody has to look at it again', parseUntil)
    .option('--yes', 'although a newer version of the program may understand the event')
    .addHelpText(
      'after',
      '\nExample:\n  ops processes skip billing.settlement.v1 --stream reading-7f9c24e8-… --reason "settled by hand, INC-42"',
    )
    .action(
      async (
        consumer: string,
        { stream, ...options }: { stream: string; reason: string; until?: string; yes?: true },
        command: Command,
      ) => {
        const result = await withSession(async (session) => {
          const [stopped] = await requireStopped(session, { consumer, stream });
          return quarantineEvent(session, parsePlace(stopped!.cause), options);
        });
        print(command, { consumer, stream, ...result }, `${consumer} continues without ${result.event}`);
        if (result.stillStopped.length > 0) process.exitCode = 1;
      },
    );
};
