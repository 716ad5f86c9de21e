import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventfulBook, exportOf } from '../../test/book.js';
import { runVerifier } from '../../test/run-verifier.js';

let jsonl: string[];
let csv: string;
let folder: string;
beforeAll(async () => {
  const { events } = await eventfulBook();
  jsonl = (await exportOf(events)).trimEnd().split('\n');
  csv = await exportOf(events, 'csv');
  folder = mkdtempSync(join(tmpdir(), 'verify-file-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const verify = (text: string) => {
  const { result, ...run } = runVerifier(folder, text);
  return { ...run, ...result };
};

const indexOf = (part: string): number => jsonl.findIndex((line) => line.includes(part));
const changed = (part: string, by: (line: string) => string): [text: string, line: number] => {
  const index = indexOf(part);
  return [`${jsonl.with(index, by(jsonl[index]!)).join('\n')}\n`, index + 1];
};

const POSTING = '"kind":"posting","revision":"3"';

describe('a changed export is reported with its line and field', () => {
  it.each<[string, () => [string, number], string]>([
    [
      'the grant of a posting is altered',
      () => changed(POSTING, (line) => line.replace('pack:+INV-1:flex', 'pack:+INV-2:flex')),
      'grantId',
    ],
    [
      'the grant of a posting is deleted',
      () => changed(POSTING, (line) => line.replace(',"grantId":"pack:+INV-1:flex"', '')),
      'grantId',
    ],
    [
      'the header names another workspace',
      () => changed('"kind":"header"', (line) => line.replace('"workspaceId":"ws_0', '"workspaceId":"ws_1')),
      'workspaceId',
    ],
    [
      'a key is there twice',
      () => changed(POSTING, (line) => line.replace('"debit":', '"debit":999,"debit":')),
      'debit',
    ],
    ['it is a CSV', () => [csv, 1], 'kind'],
  ])('when %s', (_, change, field) => {
    const [text, line] = change();
    expect(verify(text)).toMatchObject({ status: 1, stderr: '', findings: [{ line, field }] });
  });
});
