import type { Command } from 'commander';
import { signatureFile } from '../../corrections/signatures-file.js';
import { writeNewFile } from '../../new-file.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';

export const addExport = (corrections: Command): void => {
  corrections
    .command('export')
    .description('write operators, corrections and corrected entries to a file, for an auditor to verify')
    .requiredOption('--out <file>', 'write to this new file, readable only by you; refused if it exists')
    .addHelpText('after', '\nExample:\n  ops corrections export --out corrections.jsonl')
    .action(async ({ out }: { out: string }, command: Command) => {
      const end = await writeNewFile(out, (write) =>
        withSession(async ({ store }) => {
          const file = signatureFile(store);
          let next = await file.next();
          for (; !next.done; next = await file.next()) write(Buffer.from(next.value));
          return next.value;
        }),
      );
      const { events, sha256 } = end;
      print(
        command,
        { out, events, sha256 },
        `Wrote ${events} events to ${out}\nSend the auditor this hash by another way: ${sha256}`,
      );
    });
};
