import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreditBooks } from '#billing/application/credit-books.js';
import { BookExport } from '#billing/audit/export-book.js';
import { createCreditsExecutor } from '#billing/executors.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { altered, eventfulBook, rechained, TAMPERINGS, TestBook } from '../../libs/billing/test/book.js';
import { ada, grace, OPERATORS_SETTING } from '../../libs/billing/test/operators.js';
import { writeReading } from '../../libs/billing/test/readings.js';
import { startStack, type StartedStack } from '../support/index.js';
import { ledgerOf } from '../support/ledger.js';
import { twoOperators } from '../support/operators.js';

let stack: StartedStack;
let store: EventStore;
const { ledger, json } = ledgerOf(() => stack);
const HONEST = 'ws_honest0000000000000000';
const tamperedName = (index: number): string => `ws_tampered${String(index).padStart(14, '0')}`;

/** A workspace with a book written in the past, intact or tampered with in the store itself. */
const write = async (
  workspaceId: string,
  tamper: (events: readonly StoredEvent[]) => readonly StoredEvent[] = (events) => events,
): Promise<void> => {
  const { events } = await eventfulBook(workspaceId);
  await store.append(`credits-${workspaceId}`, 'no_stream', tamper(events));
  const metadata = { ...events[0]!.metadata, schemaVersion: 1 };
  const data = { workspaceId, name: 'Atelier' };
  const opened = { id: randomUUID(), type: 'WorkspaceOpened', data, metadata };
  await store.append(`workspace-${workspaceId}`, 'no_stream', [opened]);
};

const path = (name: string): string => join(stack.dataDir, name);
const seal = (workspaceId: string, out: string) => {
  const month = ['--workspace', workspaceId, '--period', '2026-04'];
  return json('seal', ...month, '--key', path('seal-private.pem'), '--out', path(out));
};

beforeAll(async () => {
  stack = await startStack({ env: { OPERATORS: OPERATORS_SETTING } });
  store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 10_000,
    readTimeoutMs: 10_000,
  });
  await write(HONEST);
  for (const [index, [, tamper]] of TAMPERINGS.entries()) await write(tamperedName(index), tamper);
  await ledger('keygen', '--out', stack.dataDir);
});

afterAll(async () => {
  await store?.close();
  await stack?.stop();
});

describe('a month that is over', () => {
  it('is closed once, however often requested', async () => {
    const month = ['--workspace', HONEST, '--period', '2026-06'];
    const closed = await json('close', ...month);
    expect(closed).toMatchObject({ code: 0, period: '2026-06', closing: { held: 20, consumed: 20 } });
    expect(await json('close', ...month)).toEqual(closed);
    expect((await ledger('close', ...month)).stdout).toMatch(/^Closed 2026-06 at revision \d+; /);
    expect(await json('statement', ...month)).toMatchObject({ closed: true, closing: closed.closing });
  });

  it('is printed as a PDF', async () => {
    const month = ['--workspace', HONEST, '--period', '2026-04', '--format', 'pdf'];
    expect(await json('statement', ...month, '--out', path('april.pdf'))).toMatchObject({ code: 0 });
    expect(readFileSync(path('april.pdf'), 'latin1')).toMatch(/^%PDF-/);
    expect(await ledger('statement', ...month)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--period .* and --out/),
    });
  });

  it('is sealed, and the export agrees with its seal', async () => {
    const sealed = await seal(HONEST, 'seal.json');
    expect(sealed).toMatchObject({ code: 0, period: '2026-04', workspaceId: HONEST });
    expect(await seal(HONEST, 'again.json')).toEqual(sealed);
    await ledger('export', '--workspace', HONEST, '--format', 'jsonl', '--out', path('book.jsonl'));
    expect(await verifyFile('book.jsonl', 'seal.json')).toMatchObject({
      code: 0,
      ok: true,
      sealedPeriods: ['2026-04'],
    });
  });
});

const verifyFile = (file: string, sealFile?: string) =>
  json(
    'verify-file',
    path(file),
    ...(sealFile ? ['--seal', path(sealFile), '--public-key', path('seal-public.pem')] : []),
  );

describe('explain', () => {
  it.each([
    ['completed', 'ReadingCompleted', 'CaptureCredits', 'CreditsCaptured', 'consumed'],
    ['failed', 'ReadingFailed', 'ReleaseCredits', 'CreditsReleased', 'available'],
    ['abandoned', 'ReadingAbandoned', 'ReleaseCredits', 'CreditsReleased', 'available'],
  ] as const)(
    'shows every movement of a %s reading with causes both ways',
    async (outcome, end, type, settled, to) => {
      const workspaceId = `ws_${outcome}`.padEnd(25, '0');
      const at = '2026-04-12T09:00:00.000Z';
      const [readingId, requestId, endId] = [randomUUID(), randomUUID(), randomUUID()];
      const own = new TestBook(workspaceId);
      await writeReading(own.store, outcome, end, at);
      const reading = [...own.store.log];
      await own.do(at, { type: 'OpenBook', workspaceId });
      await own.do(at, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
      await own.do(at, { type: 'ReserveCredits', reservationId: outcome, readingId, amount: 20 });
      await own.do(at, { type, reservationId: outcome, causeEventId: endId });
      await store.append(`credits-${workspaceId}`, 'no_stream', own.events);
      await store.append(
        `reading-${readingId}`,
        'no_stream',
        reading.map((event) => ({
          ...altered(event, { workspaceId }),
          metadata: { ...event.metadata, workspaceId },
          id: event.type === end ? endId : requestId,
        })),
      );
      const { code, credits, reading: told, ...explained } = await json('explain', readingId);
      expect([code, explained.outcome, explained.findings]).toEqual([0, outcome, []]);
      const [reservation, settlement] = own.events.slice(2);
      expect(credits).toMatchObject([
        {
          type: 'CreditsReserved',
          eventId: reservation!.id,
          cause: outcome === 'abandoned' ? null : { type: 'ReadingRequested', eventId: requestId },
          postings: [
            { account: 'available', amount: -20 },
            { account: 'held', amount: 20 },
          ],
        },
        {
          type: settled,
          eventId: settlement!.id,
          cause: { type: end, eventId: endId },
          postings: [
            { account: 'held', amount: -20 },
            { account: to, amount: 20 },
          ],
        },
      ]);
      expect(told.at(-1)).toMatchObject({ eventId: endId, causes: [settlement!.id] });
      const text = (await ledger('explain', readingId)).stdout;
      for (const id of [reservation!.id, settlement!.id, endId]) expect(text).toContain(id);
    },
  );
});

describe('a book that was tampered with in the store', () => {
  it.each(TAMPERINGS.map(([name, , firstBad], index) => [name, firstBad, index] as const))(
    'is reported by verify and verify-file with its first bad revision when %s',
    async (_, firstBad, index) => {
      const of = ['--workspace', tamperedName(index)];
      const { code, books } = await json('verify', ...of);
      expect([code, books[0].firstBadRevision]).toEqual([1, String(firstBad)]);
      const file = `${tamperedName(index)}.jsonl`;
      await ledger('export', ...of, '--format', 'jsonl', '--out', path(file));
      expect(await verifyFile(file)).toMatchObject({ code: 1, firstBadRevision: String(firstBad) });
      const refused = await ledger('seal', ...of, '--period', '2026-04', '--key', path('seal-private.pem'));
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`from revision ${firstBad} on`),
      });
    },
  );

  it('is named by verify over all books', async () => {
    const { code, books } = await json('verify', '--all');
    const bad = new Set(
      (books as { workspaceId: string; firstBadRevision: string | null }[])
        .filter(({ firstBadRevision }) => firstBadRevision !== null)
        .map(({ workspaceId }) => workspaceId),
    );
    expect(code).toBe(1);
    expect(bad).toEqual(new Set(TAMPERINGS.map((_, index) => tamperedName(index))));
  });

  it('whose whole chain was rebuilt is consistent, but does not match its seal', async () => {
    const { events } = await eventfulBook(HONEST);
    const index = events.findIndex(({ type }) => type === 'CreditsAdjusted');
    const rebuilt = rechained(events.with(index, altered(events[index]!, { reason: 'another' })));
    async function* stored() {
      yield* rebuilt;
    }
    let text = '';
    const range = { from: null, to: null };
    for await (const piece of new BookExport(`credits-${HONEST}`, 'jsonl', range, 10_000).text(stored()))
      text += piece;
    writeFileSync(path('rebuilt.jsonl'), text);
    const sealed = await seal(HONEST, 'kept.json');
    expect(await verifyFile('rebuilt.jsonl')).toMatchObject({ code: 0, ok: true });
    expect(await verifyFile('rebuilt.jsonl', 'kept.json')).toMatchObject({
      code: 1,
      ok: false,
      firstBadRevision: sealed.revision,
    });
  });
});

describe('a book that a clock 40 days ahead has damaged', () => {
  it('is repaired by reversals of what came too early, which explain all of its wrong dates', async () => {
    const { workspaceId } = (await stack.ops(['workspace', 'create', '--name', 'Damaged'])) as {
      workspaceId: string;
    };
    await stack.ops(['plan', 'subscribe', '--workspace', workspaceId, '--plan', 'studio']);
    const ahead = new CreditBooks(createCreditsExecutor(store, 10_000), {
      now: () => Date.now() + 40 * 86_400_000,
    });
    const by = { actor: 'system:test', correlationId: 'damage', causationId: 'damage' };
    await ahead.execute(workspaceId, (now) => ({ type: 'RecordDue', now }), 'damage', by);

    const early: { readonly id: string; readonly type: string; readonly data: { expiredAt?: string } }[] = [];
    for await (const event of store.read(`credits-${workspaceId}`))
      early.push(event as (typeof early)[number]);
    for (const { name, privateKey } of [ada, grace])
      writeFileSync(path(`operators/${name}.pem`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const { correct } = twoOperators(stack);
    const reverse = ({ id }: (typeof early)[number], ...more: string[]) =>
      correct([
        ...['credits', 'reverse', '--workspace', workspaceId, '--event', id, '--reason', 'a clock was wrong'],
        ...['--reference', `clock:${id}`, ...more],
      ]);
    const expired = early.find(({ type }) => type === 'GrantExpired')!;
    // It would have expired on that day in any case.
    await reverse(expired, '--expires', expired.data.expiredAt!);
    for (const granted of early.filter(({ type }) => type === 'PlanGranted').slice(1)) await reverse(granted);
    expect(await json('balance', '--workspace', workspaceId)).toMatchObject({ available: 400 });
    const { books } = await json('verify', '--workspace', workspaceId);
    expect(books).toMatchObject([{ findings: [] }]);
  });
});
