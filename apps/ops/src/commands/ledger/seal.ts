import type { Command } from 'commander';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetMonthlyStatement, RecordDue, SealPeriod } from '#billing/contracts/index.js';
import { handoverOf, readSealKey } from '#billing/offline.js';
import { writeNewFile, writeNewFiles } from '../../new-file.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { parsePeriod } from './options.js';

interface Month {
  readonly workspace: string;
  readonly period: string;
}

export const addClose = (ledger: Command): void => {
  ledger
    .command('close')
    .description('record the end of a past month; does nothing when already recorded')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--period <yyyy-mm>', 'the month (UTC)', parsePeriod)
    .addHelpText('after', '\nExample:\n  ops ledger close --workspace ws_… --period 2026-04')
    .action(async ({ workspace, period }: Month, command: Command) => {
      const closed = await withSession(async ({ commands, queries, requireWorkspace, by }) => {
        await requireWorkspace(workspace);
        await commands.execute(new RecordDue(workspace, by()));
        const statement = await queries.execute(new GetMonthlyStatement(workspace, period));
        if (!statement) throw new OpsError(`There are no records of ${workspace} in ${period}.`);
        if (!statement.closed) throw new OpsError(`The month ${period} is not over. Nothing was closed.`);
        const { eventId, revision, occurredAt } = statement.entries.at(-1)!;
        return {
          workspaceId: workspace,
          period,
          revision,
          eventId,
          closedAt: occurredAt,
          closing: statement.closing,
        };
      });
      print(
        command,
        closed,
        `Closed ${period} at revision ${closed.revision}; ${closed.closing.available} credits available`,
      );
    });
};

export const addSeal = (ledger: Command): void => {
  ledger
    .command('seal')
    .description('sign the end of a closed month (Ed25519); store the seal where we cannot change it')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--period <yyyy-mm>', 'the month (UTC)', parsePeriod)
    .requiredOption('--key <file>', 'the private key from ops ledger keygen')
    .option('--out <file>', 'write the seal to this new file instead of standard output')
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger seal --workspace ws_… --period 2026-04 --key seal-private.pem --out seal-2026-04.json',
    )
    .action(async (options: Month & { key: string; out?: string }, command: Command) => {
      const { workspace, period, key, out } = options;
      const privateKey = onFile(key, () => readFileSync(key, 'utf8'));
      const result = await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        return queries.execute(new SealPeriod(workspace, period, privateKey));
      });
      if (result.outcome === 'not_closed') {
        throw new OpsError(`The month ${period} is not closed: run ops ledger close once it is over.`);
      }
      if (result.outcome === 'not_an_ed25519_key') {
        throw new OpsError(`${key} contains no Ed25519 private key: ops ledger keygen creates one.`);
      }
      if (result.outcome === 'does_not_verify') {
        throw new OpsError(
          `The book does not verify from revision ${result.firstBadRevision} on. Nothing was sealed.`,
        );
      }
      if (result.outcome === 'correction_not_signed') {
        const { stream, revision, message } = result.finding;
        throw new OpsError(`${stream}@${revision}: ${message}. Nothing was sealed.`);
      }
      const { seal } = result;
      const text = JSON.stringify(seal, null, 2);
      if (out === undefined) return print(command, seal, text);
      await writeSeal(out, `${text}\n`);
      print(
        command,
        seal,
        `Sealed ${period} at revision ${seal.revision} into ${out}; head hash ${seal.headHash}`,
      );
    });
};

/**
 * Leaves an earlier seal: only that one shows that somebody rewrote the book since.
 * @throws OpsError when the file has anything else than this seal
 */
export const writeSeal = async (path: string, text: string): Promise<void> => {
  if (onFile(path, () => existsSync(path) && readFileSync(path, 'utf8') === text)) return;
  await writeNewFile(path, async (write) => write(Buffer.from(text)));
};

export const addKeygen = (ledger: Command): void => {
  ledger
    .command('keygen')
    .description('create a key pair for seals: seal-private.pem for you only, seal-public.pem for auditors')
    .requiredOption('--out <dir>', 'a folder, made if it is missing')
    .option('--previous <file>', 'the private key that this one replaces: it signs seal-handover.json')
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger keygen --out ~/seals\n  ops ledger keygen --out ~/seals-2027 --previous ~/seals/seal-private.pem',
    )
    .action(async ({ out, previous }: { out: string; previous?: string }, command: Command) => {
      const oldKey = previous === undefined ? null : readKey(previous);
      const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      });
      const files = { privateKey: join(out, 'seal-private.pem'), publicKey: join(out, 'seal-public.pem') };
      const handover = join(out, 'seal-handover.json');
      const handed = oldKey === null ? [] : [`${JSON.stringify(handoverOf(oldKey, publicKey), null, 2)}\n`];
      // Never overwrites an existing key, because its seals could not be made again.
      await writeNewFiles([
        { path: files.privateKey, text: privateKey, isPublic: false },
        { path: files.publicKey, text: publicKey, isPublic: true },
        ...handed.map((text) => ({ path: handover, text, isPublic: true })),
      ]);
      if (oldKey === null) return print(command, files, `Wrote ${files.privateKey} and ${files.publicKey}`);
      const written = { ...files, handover };
      print(command, written, `Wrote ${files.privateKey}, ${files.publicKey} and ${handover}`);
    });
};

/** @throws OpsError unless the file has an Ed25519 private key */
const readKey = (path: string): KeyObject => {
  const key = readSealKey(onFile(path, () => readFileSync(path, 'utf8')));
  if (!key) throw new OpsError(`${path} contains no Ed25519 private key: ops ledger keygen creates one.`);
  return key;
};

/** Runs work on a file. @throws OpsError that names the file */
export const onFile = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OpsError(code === 'ENOENT' ? `There is no ${path}.` : `${path} cannot be used: ${message}`);
  }
};
