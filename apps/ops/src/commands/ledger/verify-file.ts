import type { Command } from 'commander';
import { execFile } from 'node:child_process';
import { projectPath } from '#platform/project-path.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';

interface Options {
  readonly operators?: string;
  readonly seal?: string;
  readonly month?: string;
  readonly publicKey?: string;
  readonly handover?: readonly string[];
}

/** Runs the auditor's program, which imports nothing of this one. Without a connection: the files alone decide. */
export const addVerifyFile = (ledger: Command): void => {
  ledger
    .command('verify-file')
    .description('check a jsonl export, a seal or a month offline; exit code 1 on any finding')
    .argument('[export]', 'a file from ops ledger export --format jsonl')
    .option('--operators <file>', 'the setting OPERATORS, whose keys must have signed each correction')
    .option('--seal <file>', 'a seal from ops ledger seal, or a file of seals, that the export must match')
    .option('--month <folder>', 'the unpacked archive of ops ledger month')
    .option('--public-key <file>', 'the public key (PEM) that must verify the seal or the month')
    .option('--handover <file...>', 'a key handover that the public key signed')
    .addHelpText(
      'after',
      `
Example:
  ops ledger verify-file book.jsonl --seal seal-2026-04.json --public-key seal-public.pem
  ops ledger verify-file --month 2026-04 --public-key seal-public.pem`,
    )
    .action(async (file: string | undefined, options: Options, command: Command) => {
      const { operators, seal, month, publicKey, handover = [] } = options;
      const isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
      const given = { operators, seal, month, 'public-key': publicKey };
      const { code, stdout, stderr } = await run([
        projectPath('tools', 'verify-ledger.mjs'),
        ...(isJson ? ['--json'] : []),
        ...Object.entries(given).flatMap(([name, value]) =>
          value === undefined ? [] : [`--${name}=${value}`],
        ),
        ...handover.map((one) => `--handover=${one}`),
        ...(file === undefined ? [] : ['--', file]),
      ]);
      if (stdout === '') throw new OpsError(stderr.trim());
      print(command, isJson ? inOne(stdout) : {}, stdout.trimEnd());
      process.exitCode = code;
    });
};

/** The answer about an export has what a month says of itself only in `ok`. */
const inOne = (lines: string): object => {
  const checked = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly ok: boolean });
  return { ...checked.at(-1), ok: checked.every(({ ok }) => ok) };
};

const run = (args: readonly string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const limits = { maxBuffer: 64 * 2 ** 20 };
    execFile(process.execPath, args, limits, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, stdout, stderr }),
    );
  });
