import type { Command } from 'commander';
import { consumerLag, type ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { print, table } from '../output.js';
import { PROJECTIONS } from '../projections.js';
import { withSession } from '../session.js';
import { eventsBehind } from './projections/look.js';

/** The processes that react to events. */
export const addProcessesCommands = (processes: Command): void => {
  processes.addHelpText(
    'after',
    `
Processes cannot be rebuilt, by design: their effects would happen a second time. Every backup needs
their checkpoints.`,
  );
  for (const add of [addList, addStatus]) add(processes);
};

export const isProcess = ({ consumer }: ConsumerLag): boolean =>
  PROJECTIONS.every(({ name }) => name !== consumer);

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
