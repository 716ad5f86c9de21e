import type { Command } from 'commander';
import { writeFileSync } from 'node:fs';
import { signatureFile } from '../../corrections/signatures-file.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { onFile } from '../ledger/seal.js';

export const addExport = (corrections: Command): void => {
  corrections
    .command('export')
    .description('write operators, corrections and corrected entries to a file, for an auditor to verify')
    .requiredOption('--out <file>', 'the file to write')
    .addHelpText('after', '\nExample:\n  ops corrections export --out corrections.jsonl')
    .action(async ({ out }: { out: string }, command: Command) => {
      const end = await withSession(async ({ store }) => {
        const lines: string[] = [];
        const file = signatureFile(store);
        let next = await file.next();
        for (; !next.done; next = await file.next()) lines.push(next.value);
        onFile(out, () => writeFileSync(out, lines.join(''), { mode: 0o600 }));
        return next.value;
      });
      const { events, sha256 } = end;
      print(
        command,
        { out, events, sha256 },
        `Wrote ${events} events to ${out}\nSend the auditor this hash by another way: ${sha256}`,
      );
    });
};
