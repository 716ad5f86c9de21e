import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeDataFolder, sharedStack, temporaryDataDir, type Stack } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';
import { ledgerOf } from '../support/ledger.js';

const folder = temporaryDataDir();
let stack: Stack;
let customer: Integrator;
let readingId: string;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 100);
  ({ readingId } = (await customer.create()).body);
  await customer.untilEnded(readingId);
  await until(
    async () => (await customer.balance()).consumed === 20,
    () => 'the credits are not captured',
  );
});

afterAll(async () => {
  await stack?.stop();
  removeDataFolder(folder);
});

const { ledger, json } = ledgerOf(() => stack);
const of = () => ['--workspace', customer.workspaceId];

describe('the ledger of a running service', () => {
  it('verifies, one book and all', async () => {
    expect(await json('verify', ...of())).toMatchObject({ code: 0, ok: true, books: [{ findings: [] }] });
    expect(await json('verify', '--all')).toMatchObject({ code: 0, ok: true });
    expect((await ledger('verify', ...of())).stdout).toContain(customer.workspaceId);
  });

  it('can be exported, and verified offline from the file alone', async () => {
    const file = join(folder, 'book.jsonl');
    const written = await json('export', ...of(), '--format', 'jsonl', '--out', file);
    const { headHash } = (await json('verify', ...of())).books[0];
    expect(written).toMatchObject({ code: 0, events: 4, headHash });
    expect(await json('verify-file', file)).toMatchObject({
      code: 0,
      ok: true,
      headHash,
      balances: { available: 80, held: 0, consumed: 20, adjusted: -100 },
    });
    writeFileSync(file, readFileSync(file, 'utf8').replace('"amount":100', '"amount":900'));
    expect(await json('verify-file', file)).toMatchObject({ code: 1, ok: false, firstBadRevision: '1' });
  });

  it('can be exported as CSV to standard output', async () => {
    const { code, stdout } = await ledger('export', ...of(), '--format', 'csv');
    expect(code).toBe(0);
    expect(stdout.split('\r\n')[0]).toMatch(/^record,revision,line,/);
    expect(stdout).toContain(readingId);
  });

  it('reconciles with readings and balances', async () => {
    await until(
      async () => (await json('reconcile', ...of(), '--grace', '0')).code === 0,
      () => 'differences',
    );
    expect(await json('reconcile', ...of())).toMatchObject({ completed: 1, captures: 1 });
    expect(await json('reconcile', '--all')).toMatchObject({ code: 0, differences: [] });
  });

  it('explains a reading with causes both ways', async () => {
    const { code, outcome, credits, reading } = await json('explain', readingId);
    expect([code, outcome]).toEqual([0, 'completed']);
    const [reservation, settlement] = credits;
    const completed = reading.find(({ type }: { type: string }) => type === 'ReadingCompleted');
    expect(reservation.cause.type).toBe('ReadingRequested');
    expect(settlement.cause.eventId).toBe(completed.eventId);
    expect(completed.causes).toEqual([settlement.eventId]);
  });

  it('gives a statement of the month, and refuses to close or seal it before it is over', async () => {
    const period = new Date().toISOString().slice(0, 7);
    const month = [...of(), '--period', period];
    expect(await json('statement', ...month)).toMatchObject({ code: 0, closed: false });
    expect(await json('balance', ...of(), '--as-of', '1')).toMatchObject({ code: 0, available: 100 });
    expect((await ledger('close', ...month)).stderr).toMatch(/is not over/);
    expect((await ledger('keygen', '--out', folder)).code).toBe(0);
    const key = ['--key', join(folder, 'seal-private.pem')];
    expect((await ledger('seal', ...month, ...key)).stderr).toMatch(/is not closed/);
  });

  it.each(
    'balance statement explain find verify reconcile export verify-file close month seal keygen'
      .split(' ')
      .map((name) => [name]),
  )('explains %s with an example', async (name) => {
    const { code, stdout } = await ledger(name, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Example:\n  ops ledger');
  });
});
