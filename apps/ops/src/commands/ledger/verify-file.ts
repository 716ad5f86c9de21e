import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { projectPath } from '@app/platform/project-path.js';

interface Options {
  readonly seal?: string;
  readonly publicKey?: string;
}

/** Runs the standalone program for auditors. It imports nothing of this program, so the result is the same anywhere. */
export const addVerifyFile = (ledger: Command): void => {
  ledger
    .command('verify-file')
    .description('check a jsonl export offline, using only the file; exit code 1 on any finding')
    .argument('<export>', 'a file from ops ledger export --format jsonl')
    .option('--seal <file>', 'a seal from ops ledger seal that the export must match')
    .option('--public-key <file>', 'the public key (PEM) that must verify the seal')
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger verify-file book.jsonl --seal seal-2026-04.json --public-key seal-public.pem',
    )
    .action(async (file: string, { seal, publicKey }: Options, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const options = [
        ...(seal === undefined ? [] : [`--seal=${seal}`]),
        ...(publicKey === undefined ? [] : [`--public-key=${publicKey}`]),
        ...(json ? ['--json'] : []),
      ];
      const args = [projectPath('tools', 'verify-ledger', 'verify-ledger.mjs'), ...options, '--', file];
      const [code] = (await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')) as [
        number | null,
      ];
      if (code !== 0) process.exitCode = 1;
    });
};
