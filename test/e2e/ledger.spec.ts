import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runVerifier } from '../../libs/billing/test/run-verifier.js';
import { fixture, removeDataFolder, sharedStack, startApi, temporaryDataDir } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';

const stack = fixture(sharedStack);
const second = fixture(() => startApi(stack));

describe('the ledger of a running service', () => {
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

  it('verifies, one book and all', async () => {
    expect(await json('verify', ...of())).toMatchObject({ code: 0, ok: true, books: [{ findings: [] }] });
    expect(await json('verify', '--all')).toMatchObject({ code: 0, ok: true });
  });

  it('can be exported, and verified offline from the file alone', async () => {
    const file = join(folder, 'book.jsonl');
    const written = await json('export', ...of(), '--format', 'jsonl', '--out', file);
    const { headHash } = (await json('verify', ...of())).books[0];
    expect(written).toMatchObject({ code: 0, events: 4, headHash });
    const text = readFileSync(file, 'utf8');
    expect(runVerifier(folder, text)).toMatchObject({
      status: 0,
      result: { ok: true, headHash, balances: { available: 80, held: 0, consumed: 20, adjusted: -100 } },
    });
    expect(runVerifier(folder, text.replace('"amount":100', '"amount":900'))).toMatchObject({
      status: 1,
      result: { ok: false, firstBadRevision: '1' },
    });
  });

  it('can be exported as CSV to standard output', async () => {
    const { code, stdout } = await stack.runOps(['ledger', 'export', ...of(), '--format', 'csv']);
    expect([code, stdout.split('\r\n')[0]]).toEqual([0, expect.stringMatching(/^record,revision,line,/)]);
    expect(stdout).toContain(readingId);
  });

  it('reconciles with readings and balances', async () => {
    await until(async () => (await json('reconcile', ...of(), '--grace', '0')).code === 0, 'no differences');
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

  it('gives a statement of the month, and a balance of the past', async () => {
    const month = [...of(), '--period', new Date().toISOString().slice(0, 7)];
    expect(await json('statement', ...month)).toMatchObject({ code: 0, closed: false });
    expect(await json('balance', ...of(), '--as-of', '1')).toMatchObject({ code: 0, available: 100 });
  });
});

describe('over two API processes', () => {
  /** So many readings, ordered at both at once. */
  const order = (here: Integrator, count: number) => {
    const there = here.at(stack, second.baseUrl);
    return Promise.all(Array.from({ length: count }, (_, n) => (n % 2 === 0 ? here : there).create()));
  };

  it('a hundred concurrent requests on a hundred credits give five readings, and the ledger agrees', async () => {
    const customer = await Integrator.open(stack, 100);
    const answers = await order(customer, 100);
    const accepted = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ status }) => status === 402);
    expect([accepted.length, refused.length]).toEqual([5, 95]);
    const problem = { code: 'insufficient_credits', required: 20, available: 0 };
    expect(refused[0]!.body).toMatchObject(problem);
    await Promise.all(accepted.map(({ body }) => customer.untilEnded(body.readingId)));
    await customer.untilConsumed(100);
    expect(await customer.balance()).toMatchObject({ available: 0, held: 0, consumed: 100 });
    const of = ['--workspace', customer.workspaceId];
    expect(await stack.ops(['ledger', 'verify', ...of])).toMatchObject({ ok: true });
    const agreed = { ok: true, completed: 5, captures: 5, differences: [] };
    expect(await stack.ops(['ledger', 'reconcile', ...of])).toMatchObject(agreed);
  });

  it('test readings leave the live book as it was byte by byte, and are charged once each to the test book', async () => {
    const live = await Integrator.open(stack, 100);
    const test = await live.inTestMode();
    const ops = (...args: string[]) => stack.ops(['ledger', ...args, '--workspace', live.workspaceId]);
    const liveBook = async () =>
      JSON.stringify(await stack.ops(['streams', 'show', `credits-${live.workspaceId}`]));
    await live.published();
    await live.untilConsumed(20);
    const before = [await liveBook(), await live.balance()];
    expect(before[0]).toContain('CreditsCaptured');

    // The first use of the day: the two processes race to open and fill the book.
    const answers = await order(test, 6);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    await Promise.all(answers.map(({ body }) => test.untilEnded(body.readingId)));
    await test.untilConsumed(120);
    const { body: credits } = await test.call('GET', '/api/v1/credits');
    expect(credits).toMatchObject({ available: 9_880, reserved: 0, grants: [{ kind: 'test' }] });
    const { entries } = (await ops('statement', '--mode', 'test')) as { entries: { type: string }[] };
    expect(entries.filter(({ type }) => type === 'CreditsAdjusted')).toHaveLength(1);
    const pdf = ['--mode', 'test', '--period', '2026-01', '--format', 'pdf', '--out', 'x.pdf'];
    await expect(ops('statement', ...pdf)).rejects.toThrow('A test book has no PDF statement');

    expect([await liveBook(), await live.balance()]).toEqual(before);
    expect(await ops('verify', '--mode', 'test')).toMatchObject({ ok: true, books: [{ events: 14 }] });
    expect(await ops('verify')).toMatchObject({ ok: true });
    const inTestMode = { ok: true, books: 1, completed: 6, captures: 6, differences: [] };
    expect(await ops('reconcile', '--mode', 'test')).toMatchObject(inTestMode);
    expect(await ops('reconcile')).toMatchObject({ ok: true, books: 1, completed: 1, captures: 1 });
    expect(await stack.ops(['ledger', 'explain', answers[0]!.body.readingId])).toMatchObject({
      outcome: 'completed',
      credits: [{ type: 'CreditsReserved' }, { paidBy: [{ credits: 20, cents: 0 }] }],
      findings: [],
    });
  });
});
