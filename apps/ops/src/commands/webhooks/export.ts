import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import { ExportDeliveries } from '@app/webhooks/contracts/index.js';
import { instant } from '@app/event-sourcing/core/clock.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { parseInstant } from '../ledger/options.js';

interface Options {
  readonly until: number;
  readonly out: string;
}

export const addExport = (webhooks: Command): void => {
  webhooks
    .command('export')
    .description(
      'settled deliveries with their attempts, before retention drops them; one JSON object a line',
    )
    .requiredOption('--until <instant>', 'settled before this time', parseInstant)
    .requiredOption('--out <file>', 'write to this new file, readable only by you')
    .addHelpText(
      'after',
      '\nExample:\n  ops webhooks export --until 2026-06-01 --out deliveries-until-june.jsonl',
    )
    .action(async ({ until, out }: Options, command: Command) => {
      const deliveries = await toNewFile(out, (write) =>
        withSession(({ queries }) => queries.execute(new ExportDeliveries(instant(until), write))),
      );
      print(command, { out, deliveries }, `Wrote ${deliveries} deliveries to ${out}.`);
    });
};

/** The file appears when it is complete. */
const toNewFile = async (
  out: string,
  fill: (write: (part: Buffer) => void) => Promise<number>,
): Promise<number> => {
  const part = `${out}.part`;
  const handle = openNew(part);
  try {
    const lines = await fill((bytes) => void writeSync(handle, bytes));
    fsyncSync(handle);
    renameSync(part, out);
    return lines;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
};

const openNew = (path: string): number => {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new OpsError(`Cannot write ${path}: ${(error as Error).message}.`);
  }
};
