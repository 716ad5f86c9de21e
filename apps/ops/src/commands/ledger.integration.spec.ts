import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monthFiles, signedMonth } from '#billing/audit/month.js';
import { packMonth, writeMonth } from './ledger.js';

const PERIOD = '2026-06';
const CODES = { receivable: '1', deferred: '2', revenue: '3', breakage: '4', corrections: '5', refunds: '6' };
const { privateKey } = generateKeyPairSync('ed25519');

/** The files of a month without books. A reading of a later month is one more capture in its reconciliation. */
const monthWith = (captures: number, key = privateKey): Map<string, Uint8Array> => {
  const none = { differences: [], pending: [], setAside: [], compensated: [] };
  const reconciliation = { books: 1, captures, completed: captures, ...none };
  const files = monthFiles(PERIOD, [], reconciliation, [], CODES);
  const { json, signature } = signedMonth(PERIOD, [], reconciliation, [], files, key);
  return files.set('month.json', json).set('month.sig', Buffer.from(signature));
};

let out: string;
beforeEach(() => void (out = mkdtempSync(join(tmpdir(), 'month-'))));
afterEach(() => rmSync(out, { recursive: true }));

const write = async (files: Parameters<typeof writeMonth>[2], replace: boolean) =>
  writeMonth(out, PERIOD, files, await packMonth(PERIOD, files), replace);

const onDisk = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'base64')]),
  );

describe('a month that was written before', () => {
  it('stays as it is when the same month is written again', async () => {
    await write(monthWith(5), false);
    const before = onDisk();
    expect(Object.keys(before)).toContain(`ledger-${PERIOD}.tar.gz`);
    await write(monthWith(5), false);
    expect(onDisk()).toEqual(before);
  });

  it('is not replaced by a different one, unless asked', async () => {
    await write(monthWith(5), false);
    const before = onDisk();
    await expect(write(monthWith(6), false)).rejects.toThrow(/another signed month.*--replace/);
    expect(onDisk()).toEqual(before);
    await write(monthWith(6), true);
    expect(onDisk()['month.json']).not.toBe(before['month.json']);
    await expect(write(monthWith(5), false)).rejects.toThrow(/--replace/);
  });

  it('is not replaced when only its archive is left', async () => {
    const { folder } = await write(monthWith(5), false);
    rmSync(folder, { recursive: true });
    const before = onDisk();
    await expect(write(monthWith(6), false)).rejects.toThrow(/--replace/);
    expect(onDisk()).toEqual(before);
    await write(monthWith(5), false);
  });
});
