import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { altered, STREAM, TestBook, WS } from '../../libs/billing/test/book.js';
import { CrowdedBook } from '../../libs/billing/test/crowded-book.js';
import { writeReading } from '../../libs/billing/test/readings.js';
import { startStack, type StartedStack } from '../support/index.js';
import { until } from '../support/integrator.js';
import { twoOperators } from '../support/operators.js';
import { ledgerOf } from '../support/ledger.js';

let stack: StartedStack;
let store: EventStore;
const { ledger, json } = ledgerOf(() => stack);
const path = (...names: string[]): string => join(stack.dataDir, ...names);
const workspaceOf = (n: number): string => `ws_month${String(n).padStart(17, '0')}`;

/** A workspace that bought a pack in July 2026, and read once. Its month is not closed yet. */
const write = async (n: number): Promise<void> => {
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
  await book.do(at, { type: 'ReserveCredits', reservationId: id, readingId, amount: 20 });
  await book.do(at, { type: 'CaptureCredits', reservationId: id, causeEventId: endId });
  await store.append(`reading-${readingId}`, 'no_stream', reading);
  await store.append(`credits-${workspaceId}`, 'no_stream', book.events);
  await openWorkspace(book.events[0]!);
};

/** @param opened the first event of its book */
const openWorkspace = async ({ metadata }: StoredEvent): Promise<void> => {
  const { workspaceId } = metadata;
  const data = { workspaceId, name: 'Atelier' };
  const event = {
    id: randomUUID(),
    type: 'WorkspaceOpened',
    data,
    metadata: { ...metadata, schemaVersion: 1 },
  };
  await store.append(`workspace-${workspaceId}`, 'no_stream', [event]);
};

const close = (period: string, ...more: string[]) =>
  json(
    'month',
    '--period',
    period,
    '--all',
    '--key',
    path('seal-private.pem'),
    '--out',
    stack.dataDir,
    ...more,
  );
const verifyMonth = (...more: string[]) =>
  json('verify-file', '--month', path('2026-07'), '--public-key', path('seal-public.pem'), ...more);

const booksInView = async (): Promise<number> => {
  const client = new pg.Client(stack.databaseUrl);
  await client.connect();
  try {
    return (await client.query('select from billing.balance')).rowCount ?? 0;
  } finally {
    await client.end();
  }
};

beforeAll(async () => {
  stack = await startStack();
  const waits = { appendTimeoutMs: 10_000, readTimeoutMs: 10_000 };
  store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    ...waits,
  });
  for (const n of [1, 2, 3]) await write(n);
  await until(
    async () => (await booksInView()) === 3,
    () => 'the balance view has the books',
  );
  await ledger('keygen', '--out', stack.dataDir);
});

afterAll(async () => {
  await store?.close();
  await stack?.stop();
});

describe('a month of all books', () => {
  it('is closed, sealed and archived, and the same each time', async () => {
    const closed = await close('2026-07');
    expect(closed).toMatchObject({
      code: 0,
      ok: true,
      books: 3,
      closing: { 'issued:pack': -150, available: 90, consumed: 60 },
      money: { currency: 'USD', opening: 0, sales: 8_700, earned: 3_480, breakage: 0, closing: 5_220 },
    });
    const { merkleRoot, archive } = closed;
    // The first run may have signed that views were behind the books which it closed. The next one signs them at rest.
    await until(
      async () => ((await json('reconcile', '--all'))['pending'] as unknown[]).length === 0,
      () => 'the views have caught up with the closed books',
    );
    expect(await close('2026-07', '--replace')).toMatchObject({ merkleRoot, closedNow: 0 });
    const written = readFileSync(archive);
    expect(await close('2026-07')).toMatchObject({ code: 0, merkleRoot });
    expect(readFileSync(archive).equals(written)).toBe(true);
    expect(await json('reconcile', '--all')).toMatchObject({ code: 0, ok: true, books: 3 });
    const listed = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(listed).toContain('2026-07/trial-balance.pdf');
    expect(listed).toContain('2026-07/month.sig');
  });

  it('verifies offline, with the export of a book and with OpenSSL alone', async () => {
    const file = path('july.jsonl');
    const month = ['--workspace', workspaceOf(2), '--period', '2026-07'];
    await ledger('export', ...month, '--format', 'jsonl', '--out', file);
    expect(await verifyMonth(file)).toMatchObject({ code: 0, ok: true, sealedPeriods: ['2026-07'] });
    const signature = readFileSync(path('2026-07', 'month.sig'), 'utf8');
    writeFileSync(path('month.sig.bin'), Buffer.from(signature, 'base64'));
    const key = ['-pubin', '-inkey', path('seal-public.pem')];
    const signed = ['-rawin', '-in', path('2026-07', 'month.json'), '-sigfile', path('month.sig.bin')];
    const said = execFileSync('openssl', ['pkeyutl', '-verify', ...key, ...signed], { encoding: 'utf8' });
    expect(said).toMatch(/Verified Successfully/);
  });

  it('does not verify when one of its files was changed', async () => {
    const journal = path('2026-07', 'journal.csv');
    const text = readFileSync(journal, 'utf8');
    writeFileSync(journal, text.replace('2900', '2901'));
    expect(await verifyMonth()).toMatchObject({ code: 1, findings: [{ file: 'journal.csv' }] });
    writeFileSync(journal, text);
    expect(await verifyMonth()).toMatchObject({ code: 0, ok: true });
  });

  it('closes a book in parts when it is too much for one event, and its export begins with them', async () => {
    const { events } = await CrowdedBook.with(0, 2_300);
    // At once, because a worker may close the book's months at any time.
    await store.append(STREAM, 'no_stream', events);
    await openWorkspace(events[0]!);
    expect(await close('2026-07', '--replace')).toMatchObject({ code: 0, ok: true, books: 4 });
    const file = path('august.jsonl');
    const month = ['--workspace', WS, '--period', '2026-08', '--format', 'jsonl', '--out', file];
    expect(await ledger('export', ...month)).toMatchObject({ code: 0 });
    const types = readFileSync(file, 'utf8').match(/"type":"\w+"/g);
    expect(types?.slice(0, 3)).toEqual([
      '"type":"PeriodCarried"',
      '"type":"PeriodCarried"',
      '"type":"PeriodClosed"',
    ]);
    expect(await json('verify-file', file)).toMatchObject({ code: 0, ok: true });
  });

  it('has entries that are found by their reference, whoever booked them', async () => {
    const order = await json('find', 'INV-2');
    expect(order).toMatchObject({ code: 0, entries: [{ workspaceId: workspaceOf(2), credits: 50 }] });
    const correction = ['--workspace', workspaceOf(1), '--amount', '5', '--reason', 'goodwill'];
    const { correct } = twoOperators(stack);
    await correct(['credits', 'adjust', ...correction, '--reference', 'INC-42']);
    expect((await json('find', 'INC-42')).entries).toMatchObject([
      {
        workspaceId: workspaceOf(1),
        credits: 5,
        reason: 'goodwill',
        actor: 'operator:ada',
      },
    ]);
    expect((await ledger('find', 'INC-43')).stderr).toMatch(/No entry/);
  });

  it('is refused before it is over, for a month without records, and when a book is not right', async () => {
    const now = new Date().toISOString().slice(0, 7);
    const options = ['--all', '--key', path('seal-private.pem'), '--out', stack.dataDir];
    expect((await ledger('month', '--period', now, ...options)).stderr).toMatch(/is not over/);
    expect(
      await ledger(
        'export',
        '--workspace',
        workspaceOf(1),
        '--period',
        '2026-06',
        '--format',
        'jsonl',
        '--out',
        path('none'),
      ),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no records'),
    });
    const book = new TestBook(workspaceOf(4));
    await book.do('2026-07-12T09:00:00.000Z', { type: 'OpenBook', workspaceId: workspaceOf(4) });
    await book.do('2026-07-12T09:00:00.000Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o' });
    const [opened, bought] = book.events;
    const changed = [opened!, altered(bought!, { credits: 5_000 })];
    await store.append(`credits-${workspaceOf(4)}`, 'no_stream', changed);
    expect(await close('2026-07')).toMatchObject({
      code: 1,
      ok: false,
      problems: [{ workspaceId: workspaceOf(4), revision: '1' }],
    });
  });
});
