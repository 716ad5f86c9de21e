import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runVerifier } from '../../libs/billing/test/run-verifier.js';
import { fixture, removeDataFolder, sharedStack, temporaryDataDir } from '../support/index.js';
import { Integrator } from '../support/integrator.js';

const stack = fixture(sharedStack);

const folder = temporaryDataDir();
afterAll(() => removeDataFolder(folder));
const customer = fixture(() => Integrator.open(stack, 100));
let readingId: string;
const of = () => ['--workspace', customer.workspaceId];
const json = (...args: string[]) => stack.report<ReturnType<typeof JSON.parse>>(['ledger', ...args]);

beforeAll(async () => {
  readingId = await customer.published();
  await customer.untilConsumed(20);
});

it('A book can be exported, and verified offline from the file alone', async () => {
  const file = join(folder, 'book.jsonl');
  const written = await json('export', ...of(), '--format', 'jsonl', '--out', file);
  const verified = await json('verify', ...of());
  expect(verified).toMatchObject({ code: 0, ok: true, books: [{ findings: [] }] });
  const { headHash } = verified.books[0];
  expect(written).toMatchObject({ code: 0, events: 4, headHash });
  const balances = { available: 80, held: 0, consumed: 20, adjusted: -100 };
  expect(await json('verify-file', file)).toMatchObject({ code: 0, balances });
  const text = readFileSync(file, 'utf8');
  expect(runVerifier(folder, text)).toMatchObject({ status: 0, result: { ok: true, headHash, balances } });
  expect(runVerifier(folder, text.replace('"amount":100', '"amount":900'))).toMatchObject({
    status: 1,
    result: { ok: false, firstBadRevision: '1' },
  });
  const { code, stdout } = await stack.runOps(['ledger', 'export', ...of(), '--format', 'csv']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^record,revision,line,/)]);
  expect(stdout).toContain(readingId);
});

it('A book gives a statement of the month, and a balance of the past', async () => {
  const month = [...of(), '--period', new Date().toISOString().slice(0, 7)];
  expect(await json('statement', ...month)).toMatchObject({ code: 0, closed: false });
  expect(await json('balance', ...of(), '--as-of', '1')).toMatchObject({ code: 0, available: 100 });
  const pdf = ['--mode', 'test', '--period', '2026-01', '--format', 'pdf', '--out', 'x.pdf'];
  const { stderr } = await stack.runOps(['ledger', 'statement', ...of(), ...pdf]);
  expect(stderr).toMatch('A test book has no PDF statement');
});
