import type { Command } from 'commander';
import { ExportDeliveries } from '#webhooks/contracts/index.js';
import { instant } from '#event-sourcing/core/clock.js';
import { writeNewFile } from '../../new-file.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { parseInstant } from '../options.js';

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
    .requiredOption('--out <file>', 'write to this new file, readable only by you; refused if it exists')
    .addHelpText(
      'after',
      '\nExample:\n  ops webhooks export --until 2026-06-01 --out deliveries-until-june.jsonl',
    )
    .action(async ({ until, out }: Options, command: Command) => {
      const deliveries = await writeNewFile(out, (write) =>
        withSession(({ queries }) => queries.execute(new ExportDeliveries(instant(until), write))),
      );
      print(command, { out, deliveries }, `Wrote ${deliveries} deliveries to ${out}.`);
    });
};
