import type { Command } from 'commander';
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import type { ExportFinding } from '@app/billing/contracts/index.js';
import { verifyExport } from '@app/billing/offline.js';
import { projectPath } from '@app/platform/project-path.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';

interface Options {
  readonly seal?: string;
  readonly month?: string;
  readonly publicKey?: string;
  readonly handover?: readonly string[];
}

/**
 * Verifies a file twice: with the auditor's program, which imports nothing of this one, and with the service's own code.
 * Without a connection: the file alone decides.
 */
export const addVerifyFile = (ledger: Command): void => {
  ledger
    .command('verify-file')
    .description('check a jsonl export, a seal or a month offline; exit code 1 on any finding')
    .argument('[export]', 'a file from ops ledger export --format jsonl')
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
      const checked = await checkAlone(file, options);
      const own = file === undefined ? null : await verifyExport(createReadStream(file));
      const ofExport = checked.at(-1)!;
      const isClean = !ofExport.findings.some(({ field }) => !field.startsWith('seal.'));
      if (own && own.ok !== isClean) {
        throw new OpsError('The two verifiers disagree: keep the file and report this as a defect.');
      }
      const result = { ...ofExport, ok: checked.every(({ ok }) => ok), verifiers: own ? 2 : 1 };
      print(command, result, checked.map(describe).join('\n'));
      if (!result.ok) process.exitCode = 1;
    });
};

interface Checked extends Readonly<Record<string, unknown>> {
  readonly ok: boolean;
  readonly findings: readonly (ExportFinding & { readonly file?: string })[];
}

/** What the auditor's program finds: of the month if there is one, then of the export. */
const checkAlone = async (file: string | undefined, options: Options): Promise<readonly Checked[]> => {
  const { seal, month, publicKey, handover = [] } = options;
  const args = [
    projectPath('tools', 'verify-ledger.mjs'),
    '--json',
    ...(seal === undefined ? [] : [`--seal=${seal}`]),
    ...(month === undefined ? [] : [`--month=${month}`]),
    ...(publicKey === undefined ? [] : [`--public-key=${publicKey}`]),
    ...handover.map((one) => `--handover=${one}`),
    ...(file === undefined ? [] : ['--', file]),
  ];
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const limits = { maxBuffer: 64 * 2 ** 20 };
    execFile(process.execPath, args, limits, (_, out, err) => resolve({ stdout: out, stderr: err }));
  });
  if (stdout === '') throw new OpsError(stderr.trim());
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Checked);
};

const describe = ({ ok, findings, ...result }: Checked): string =>
  ok
    ? table(
        ['checked', 'value'],
        Object.entries(result).flatMap(([name, value]) => rowsOf(name, value)),
      )
    : table(
        ['file', 'line', 'field', 'finding'],
        findings.map(({ file, line, field, message }) => [file ?? '', line, field, message]),
      );

const rowsOf = (name: string, value: unknown): (readonly [string, string | number])[] => {
  if (value === null) return [[name, '']];
  if (typeof value !== 'object') return [[name, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([inner, one]) => rowsOf(`${name}.${inner}`, one));
};
