import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditConfig, sealKeys } from '../../test/audit-config.js';
import { eventfulBook, exportOf, WS, type TestBook } from '../../test/book.js';
import { isRaw, mutantsOfFile } from '../../test/mutated-files.js';
import { runVerifier } from '../../test/run-verifier.js';
import { SealPeriodHandler } from '../application/verify-ledger.js';
import { SealPeriod } from '../contracts/index.js';

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

describe('a file beside the export', () => {
  const file = (name: string, bytes: Uint8Array): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const some = (bytes: Uint8Array): readonly Buffer[] =>
    mutantsOfFile(bytes).filter((_, index) => index % 29 === 0);

  it('with a fault is named, with the line and the member', async () => {
    const handover = `${JSON.stringify({ format: 'credit-ledger-key/1', previousKeySha256: 'a', publicKey: 'b', signature: 'c' }, null, 2)}\n`;
    const { privateKey, publicKey } = sealKeys();
    const sealed = await new SealPeriodHandler(book.store, auditConfig()).execute(
      new SealPeriod(WS, '2026-04', privateKey),
    );
    if (sealed.outcome !== 'sealed') throw new Error(sealed.outcome);
    const right = {
      seal: Buffer.from(`${JSON.stringify(sealed.seal, null, 2)}\n`),
      key: Buffer.from(publicKey),
    };
    const text = `${jsonl.join('\n')}\n`;
    const check = ({ seal, key }: { seal: Uint8Array; key: Uint8Array }, ...more: readonly string[]) =>
      runVerifier(folder, text, ['--seal', file('seal', seal), '--public-key', file('key', key), ...more]);
    expect(check(right)).toMatchObject({ status: 0, stderr: '' });
    const runs = [
      ...some(right.seal).map((seal) => ['seal', check({ ...right, seal })] as const),
      ...some(right.key).map((key) => ['key', check({ ...right, key })] as const),
      ['handover', check(right, '--handover', file('handover', Buffer.from(handover)))] as const,
      ['handover', check(right, '--handover', file('handover', Buffer.from('{')))] as const,
    ];
    const unnamed = runs.filter(([name, { status, stderr, result }]) => {
      const said: readonly string[] = result
        ? result.findings.map(
            (found: { file: string; line: number; field: string; message: string }) =>
              `${found.file}, line ${found.line}, ${found.field}: ${found.message}`,
          )
        : [stderr];
      // The first key of the file is another one: the seal names it no more.
      const isNamed = (message: string) =>
        new RegExp(`/(${name}|seal), line [1-9]\\d*, [\\w.:]+: `).test(message) && !isRaw(message);
      return status !== 1 || said.length === 0 || !said.every(isNamed);
    });
    expect(unnamed).toEqual([]);
  });

  it('that is missing is named', () => {
    expect(runVerifier(folder, jsonl.join('\n'), ['--seal', '/none', '--public-key', '/none'])).toMatchObject(
      {
        status: 1,
        stderr: 'There is no file /none.\n',
      },
    );
  });
});
