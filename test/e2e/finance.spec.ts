import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Correction } from '#billing/contracts/index.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { altered, eventfulBook, TAMPERINGS, TestBook } from '../../libs/billing/test/book.js';
import { OPERATORS_SETTING } from '../../libs/billing/test/operators.js';
import { writeReading } from '../../libs/billing/test/readings.js';
import { runVerifier } from '../../libs/billing/test/run-verifier.js';
import { askCompanion } from '../support/companion.js';
import { fixture, startStack } from '../support/index.js';
import { until } from '../support/integrator.js';
import { approval, Operator, twoOperators } from '../support/operators.js';

const stack = fixture(startStack);
const store = fixture(
  () =>
    openEventStore({ connectionString: stack.eventStoreUrl, appendTimeoutMs: 10_000, readTimeoutMs: 10_000 }),
  (one) => one.close(),
);
const operators = fixture(async () => twoOperators(stack));
const ada = fixture(async () => operators.ada);
const grace = fixture(async () => operators.grace);

const path = (...names: string[]): string => join(stack.dataDir, ...names);
const ledger = (args: string[], settings = {}) => stack.runOps(['ledger', ...args], settings);
const json = (args: string[], settings = {}) =>
  stack.report<ReturnType<typeof JSON.parse>>(['ledger', ...args], settings);
const key = () => ['--key', path('seal-private.pem')];
const open = async (name: string) =>
  ((await stack.ops(['workspace', 'create', '--name', name])) as { workspaceId: string }).workspaceId;
const proposed = async (args: readonly string[]): Promise<Correction> =>
  (await ada.ops<{ correction: Correction }>(args)).correction;
const refusal = async (by: Operator, args: readonly string[], settings = {}) => {
  const { code, stderr } = await by.run(args, settings);
  expect(code).toBe(1);
  return stderr;
};

/** Writes a book of the past into the store itself, with the workspace that it belongs to. */
const write = async (workspaceId: string, events: readonly StoredEvent[]): Promise<void> => {
  await store.append(`credits-${workspaceId}`, 'no_stream', events);
  const metadata = { ...events[0]!.metadata, schemaVersion: 1 };
  const data = { workspaceId, name: 'Atelier' };
  const opened = { id: randomUUID(), type: 'WorkspaceOpened', data, metadata };
  await store.append(`workspace-${workspaceId}`, 'no_stream', [opened]);
};

beforeAll(async () => {
  await ledger(['keygen', '--out', stack.dataDir]);
});

/** First: it counts all books. */
describe('a month of all books', () => {
  const workspaceOf = (n: number): string => `ws_month${String(n).padStart(17, '0')}`;
  const close = (...more: string[]) =>
    json(['month', '--period', '2026-07', '--all', ...key(), '--out', stack.dataDir, ...more]);
  const verifyMonth = (text: string | null = null) =>
    runVerifier(stack.dataDir, text, ['--month', path('2026-07'), '--public-key', path('seal-public.pem')]);

  /** A workspace that bought a pack in July 2026, and read once. Its month is not closed yet. */
  const bought = async (n: number): Promise<void> => {
    const workspaceId = workspaceOf(n);
    const book = new TestBook(workspaceId);
    const [at, id, readingId, endId] = ['2026-07-12T09:00:00.000Z', `r${n}`, randomUUID(), randomUUID()];
    await writeReading(book.store, id, 'ReadingCompleted', at);
    const reading = book.store.log.map((event) => ({
      ...altered(event, { workspaceId }),
      metadata: { ...event.metadata, workspaceId },
      id: event.type === 'ReadingCompleted' ? endId : randomUUID(),
    }));
    await book.do(at, { type: 'OpenBook', workspaceId });
    await book.do(at, { type: 'PurchasePack', pack: 'flex', orderRef: `INV-${n}` });
    await book.reserve(at, id, readingId);
    await book.settle(at, 'CaptureCredits', id, endId);
    await store.append(`reading-${readingId}`, 'no_stream', reading);
    await write(workspaceId, book.events);
  };

  beforeAll(async () => {
    for (const n of [1, 2, 3]) await bought(n);
    const inView = async () => (await stack.query('select from billing.balance')).length;
    await until(async () => (await inView()) === 3, 'the balance view has the books');
  });

  it('is closed, sealed and archived, and the same each time', async () => {
    const closed = await close();
    expect(closed).toMatchObject({
      code: 0,
      ok: true,
      books: 3,
      closing: { 'issued:pack': -150, available: 90, consumed: 60 },
      money: { currency: 'USD', opening: 0, sales: 8_700, earned: 3_480, breakage: 0, closing: 5_220 },
    });
    const { merkleRoot, archive } = closed;
    // The first run may have signed that views were behind the books which it closed. The next one signs them at rest.
    const pending = async () => (await json(['reconcile', '--all'])).pending.length;
    await until(async () => (await pending()) === 0, 'the views have caught up with the closed books');
    expect(await close('--replace')).toMatchObject({ merkleRoot, closedNow: 0 });
    const written = readFileSync(archive);
    expect(await close()).toMatchObject({ code: 0, merkleRoot });
    expect(readFileSync(archive).equals(written)).toBe(true);
    expect(await json(['reconcile', '--all'])).toMatchObject({ code: 0, ok: true, books: 3 });
    const listed = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(listed).toEqual(expect.arrayContaining(['2026-07/trial-balance.pdf', '2026-07/month.sig']));
  });

  it('verifies offline, with the export of a book and with OpenSSL alone', async () => {
    const file = path('july.jsonl');
    const month = ['--workspace', workspaceOf(2), '--period', '2026-07'];
    await ledger(['export', ...month, '--format', 'jsonl', '--out', file]);
    expect(verifyMonth(readFileSync(file, 'utf8'))).toMatchObject({
      status: 0,
      result: { ok: true, sealedPeriods: ['2026-07'] },
    });
    const signature = readFileSync(path('2026-07', 'month.sig'), 'utf8');
    writeFileSync(path('month.sig.bin'), Buffer.from(signature, 'base64'));
    const publicKey = ['-pubin', '-inkey', path('seal-public.pem')];
    const signed = ['-rawin', '-in', path('2026-07', 'month.json'), '-sigfile', path('month.sig.bin')];
    const said = execFileSync('openssl', ['pkeyutl', '-verify', ...publicKey, ...signed], {
      encoding: 'utf8',
    });
    expect(said).toMatch(/Verified Successfully/);
  });

  it('is refused before it is over', async () => {
    const now = new Date().toISOString().slice(0, 7);
    const early = await ledger(['month', '--period', now, '--all', ...key(), '--out', stack.dataDir]);
    expect(early.stderr).toMatch(/is not over/);
  });
});

describe('corrections by two operators', () => {
  let workspace: string;
  const balance = async (of = workspace) =>
    (await stack.ops(['ledger', 'balance', '--workspace', of])) as { available: number; adjusted: number };
  const adjust = (amount: number, reference: string, of = workspace): string[] => [
    ...['credits', 'adjust', '--workspace', of, '--amount', String(amount)],
    ...['--reason', 'outage of 3 April', '--reference', reference],
  ];

  beforeAll(async () => {
    workspace = await open('Corrected');
  });

  it('change nothing until another person has approved them, and are then booked once', async () => {
    const before = (await balance()).available;
    const correction = await proposed(adjust(20, 'INC-42'));
    const { correctionId } = correction;
    expect(await ada.ops(adjust(20, 'INC-42'))).toMatchObject({ outcome: 'already_proposed' });
    expect(await refusal(ada, adjust(30, 'INC-42'))).toMatch(/has this reference, and is proposed/);
    expect(await balance()).toMatchObject({ available: before });
    expect(await refusal(ada, approval(correction))).toBe(
      'ada proposed it: another person must approve it. Nothing changed.\n',
    );
    expect(await grace.ops(['corrections', 'approve', correctionId])).toMatchObject({
      outcome: 'not_approved',
      correction: { status: 'proposed', credits: 20 },
    });
    for (let time = 0; time < 2; time += 1)
      expect(await grace.ops(approval(correction))).toMatchObject({
        outcome: 'booked',
        correction: { status: 'booked', approvedBy: 'grace' },
      });
    expect(await balance()).toMatchObject({ available: before + 20 });
    const { entries } = await ada.ops<{ entries: object[] }>(['ledger', 'find', 'INC-42']);
    const signed = { actor: 'operator:ada', approvedBy: 'grace', correctionId };
    expect(entries).toMatchObject([{ workspaceId: workspace, credits: 20, ...signed }]);
  });

  it('end when they are rejected, and their reference is used', async () => {
    const correction = await proposed(adjust(4, 'REJECTED'));
    const { correctionId } = correction;
    const reject = ['corrections', 'reject', correctionId, '--reason', 'wrong workspace'];
    expect(await grace.ops(reject)).toMatchObject({ status: 'rejected', rejected: 'wrong workspace' });
    expect(await refusal(grace, approval(correction))).toMatch(/^The correction is rejected/);
    expect(await refusal(ada, adjust(4, 'REJECTED'))).toMatch(/has this reference, and is rejected/);
    const { corrections } = await ada.ops<{ corrections: Correction[] }>(['corrections', 'list']);
    expect(corrections[0]).toMatchObject({ correctionId, status: 'rejected' });
  });

  it('that reverse an entry give or take at most what it moved, in all', async () => {
    await operators.correct(adjust(50, 'GIFT'));
    const statement = ['ledger', 'statement', '--workspace', workspace];
    const { entries } = await ada.ops<{ entries: { eventId: string }[] }>(statement);
    const reverse = (reference: string, ...more: string[]) => [
      ...['credits', 'reverse', '--workspace', workspace, '--event', entries.at(-1)!.eventId],
      ...['--reason', 'granted twice', '--reference', reference, ...more],
    ];
    const before = (await balance()).available;
    await operators.correct(reverse('PART', '--amount', '-30'));
    expect(await refusal(ada, reverse('TOO-MUCH', '--amount', '-21'))).toMatch(
      /-50 credits may be reversed; -30 are already/,
    );
    await operators.correct(reverse('REST'));
    expect(await balance()).toMatchObject({ available: before - 50 });
    expect(await refusal(ada, reverse('MORE'))).toMatch(/has nothing left to reverse/);
  });

  it('refund an order once, with what is unused, and both operators see the dollars', async () => {
    const own = await open('Refunded');
    const line = ['--workspace', own, '--pack', 'flex', '--order', 'INV-9'];
    const refund = ['pack', 'refund', ...line, '--reason', 'returned'];
    const add = ['pack', 'add', ...line];
    await stack.ops(add);
    const twice = stack.ops(add.with(3, workspace));
    await expect(twice).rejects.toThrow('has the pack flex of order INV-9. Nothing was added.');
    await operators.correct(adjust(-10, 'USED', own));
    const dollars = /^US dollars to pay back for pack:INV-9:flex: 23\.20$/m;
    expect((await ada.run(refund)).stdout).toMatch(dollars);
    const proposal = await proposed(refund);
    expect((await grace.run(['corrections', 'approve', proposal.correctionId])).stdout).toMatch(dollars);
    expect(await grace.ops(approval(proposal))).toMatchObject({
      outcome: 'booked',
      correction: { entries: [{ value: { as: 'refunds', of: 'pack:INV-9:flex', cents: 2_320 } }] },
    });
    expect(await balance(own)).toMatchObject({ available: 0, adjusted: -50 });
    expect(await refusal(ada, refund)).toMatch(/Corrections have taken back 40 of its 50 credits already/);
  });

  it('are known to the audits, which find an entry that nobody approved', async () => {
    const verified = (args: string[] = ['--workspace', workspace], settings = {}) =>
      json(['verify', ...args], settings);
    /** An export, as the auditor checks it with the keys that they know. */
    const offline = async (known: string) => {
      const [out, file] = [path(`book-${randomUUID()}.jsonl`), path('operators.txt')];
      writeFileSync(file, known);
      await ada.ops(['ledger', 'export', '--workspace', workspace, '--format', 'jsonl', '--out', out]);
      return runVerifier(stack.dataDir, readFileSync(out, 'utf8'), ['--operators', file]).result;
    };
    const { OPERATORS } = JSON.parse(readFileSync(path('runtime.json'), 'utf8')) as { OPERATORS: string };
    expect(await verified()).toMatchObject({ code: 0, ok: true, corrections: [] });
    expect(await offline(OPERATORS)).toMatchObject({ ok: true, findings: [] });
    const message = 'ada, who is to have signed this entry, is no operator';
    expect(await verified(['--all'], { OPERATORS: OPERATORS.replace('ada:', 'eve:') })).toMatchObject({
      code: 1,
      corrections: expect.arrayContaining([expect.objectContaining({ message })]),
    });
    const { eventStoreUrl } = stack;
    await askCompanion('/credits', { eventStoreUrl, workspaceId: workspace, amount: 1_000 });
    const finding = { message: 'no two operators signed this entry' };
    expect(await verified()).toMatchObject({ code: 1, ok: false, corrections: [finding] });
    expect(await offline(OPERATORS)).toMatchObject({ ok: false, findings: [finding] });
  });
});

it('A subscription changes and ends on dates that the commands say', async () => {
  const own = await open('Subscribed');
  const plan = (verb: string, ...more: string[]) => stack.ops(['plan', verb, '--workspace', own, ...more]);
  await expect(plan('change', '--plan', 'pro')).rejects.toThrow(/has no subscription/);
  const { subscription } = (await plan('subscribe', '--plan', 'studio')) as {
    subscription: { nextGrantAt: string };
  };
  const effectiveAt = subscription.nextGrantAt;
  const pro = { outcome: 'subscribed', available: 400, effectiveAt };
  expect(await plan('change', '--plan', 'pro')).toMatchObject(pro);
  expect(await plan('change', '--plan', 'pro')).toMatchObject({ ...pro, outcome: 'already_subscribed' });
  expect(await plan('show')).toMatchObject({ subscription: { plan: 'studio', nextPlan: 'pro' } });
  const cancelled = { outcome: 'cancelled', effectiveAt };
  expect(await plan('cancel', '--reference', 'TICKET-9')).toEqual(cancelled);
  expect(await plan('cancel')).toEqual({ ...cancelled, outcome: 'already_cancelled' });
  expect(await plan('show')).toMatchObject({ subscription: { endsAt: effectiveAt, nextPlan: null } });
  expect(await plan('cancel', '--when', 'now')).toMatchObject({ outcome: 'cancelled' });
  expect(await plan('show')).toEqual({ subscription: null });
  expect(await stack.ops(['ledger', 'find', 'TICKET-9'])).toMatchObject({
    entries: [{ type: 'SubscriptionCancelled', workspaceId: own }],
  });
});

describe('a book of the past', () => {
  const HONEST = 'ws_honest0000000000000000';
  const TAMPERED = 'ws_tampered00000000000000';
  const [[, tamper, firstBad]] = TAMPERINGS as [(typeof TAMPERINGS)[number]];
  /** The keys of those who signed its entries. */
  const settings = { OPERATORS: OPERATORS_SETTING };
  const exported = async (workspaceId: string) => {
    const file = path(`${workspaceId}.jsonl`);
    await ledger(['export', '--workspace', workspaceId, '--format', 'jsonl', '--out', file]);
    return file;
  };

  beforeAll(async () => {
    await write(HONEST, (await eventfulBook(HONEST)).events);
    await write(TAMPERED, tamper((await eventfulBook(TAMPERED)).events));
  });

  it('is printed', async () => {
    const april = ['--workspace', HONEST, '--period', '2026-04'];
    const pdf = ['statement', ...april, '--format', 'pdf'];
    expect(await json([...pdf, '--out', path('april.pdf')])).toMatchObject({ code: 0 });
    expect(readFileSync(path('april.pdf'), 'latin1')).toMatch(/^%PDF-/);
    expect((await ledger(pdf)).stderr).toMatch(/--period .* and --out/);
  });

  it('that was tampered with in the store is named with its first bad revision by every audit', async () => {
    const firstBadRevision = String(firstBad);
    const of = ['--workspace', TAMPERED];
    expect(await json(['verify', ...of], settings)).toMatchObject({ code: 1, books: [{ firstBadRevision }] });
    const file = readFileSync(await exported(TAMPERED), 'utf8');
    expect(runVerifier(stack.dataDir, file)).toMatchObject({ status: 1, result: { firstBadRevision } });
    const { code, books } = await json(['verify', '--all'], settings);
    const bad = (books as { workspaceId: string; firstBadRevision: string | null }[])
      .filter((book) => book.firstBadRevision !== null)
      .map(({ workspaceId }) => workspaceId);
    expect([code, bad]).toEqual([1, expect.arrayContaining([TAMPERED])]);
    expect(bad).not.toContain(HONEST);
  });
});
