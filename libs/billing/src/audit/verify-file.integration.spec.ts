import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealKeys } from '../../test/audit-config.js';
import { eventfulBook, exportOf, type TestBook } from '../../test/book.js';
import { runVerifier } from '../../test/run-verifier.js';

let book: TestBook;
let jsonl: string[];
let folder: string;
beforeAll(async () => {
  book = await eventfulBook();
  const { events } = book;
  jsonl = (await exportOf(events)).trimEnd().split('\n');
  folder = mkdtempSync(join(tmpdir(), 'verify-file-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('A CSV, and a line that is another, are reported with line and field', async () => {
  const index = jsonl.findIndex((line) => line.includes('"kind":"posting","revision":"3"'));
  const changed = jsonl.with(index, jsonl[index]!.replace('"debit":', '"debit":999,"debit":'));
  for (const [text, line, field] of [
    [await exportOf(book.events, 'csv'), 1, 'kind'],
    [`${changed.join('\n')}\n`, index + 1, 'debit'],
  ] as const)
    expect(runVerifier(folder, text)).toMatchObject({
      status: 1,
      stderr: '',
      result: { findings: [{ line, field }] },
    });
});

it.each(['Pacific/Kiritimati', 'Etc/GMT+12'])('The auditor’s file derives the same in %s', (TZ) => {
  const run = (env: object) => runVerifier(folder, `${jsonl.join('\n')}\n`, [], env).result;
  expect(run({ TZ })).toEqual(run({}));
});

it('A file beside the export that is faulty or missing is named, with the line and the member', () => {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const handover = { format: 'credit-ledger-key/1', previousKeySha256: 'a', publicKey: 'b', signature: 'c' };
  const { publicKey } = sealKeys();
  const said = (key: string, ...more: readonly string[]) =>
    runVerifier(folder, jsonl.join('\n'), ['--month', '/none', '--public-key', file('key', key), ...more]);
  const runs = [
    [said('no key'), /\/key, line 1, publicKey: this is no public key/],
    [said(publicKey, '--handover', file('handover', '{')), /\/handover, line 1, text: this is not JSON/],
    [
      said(publicKey, '--handover', file('handover', `${JSON.stringify(handover, null, 2)}\n`)),
      /\/handover, line 3, previousKeySha256: the handover names a key that is not trusted/,
    ],
    [said(publicKey), /^There is no file \/none\/month.json\.\n$/],
  ] as const;
  for (const [{ status, stderr }, message] of runs) {
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
  }
});
