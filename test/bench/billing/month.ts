import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { visitLog } from '@app/billing/application/audit/read.js';
import { MonthBooks } from '@app/billing/audit/month-books.js';
import { monthFiles, signedMonth } from '@app/billing/audit/month-files.js';
import { Reconciler, type BalanceRow } from '@app/billing/audit/reconcile.js';
import { balanceOf } from '@app/billing/domain/credits/balance.js';
import { monthPdf } from '@app/billing/statement-pdf/month-pdf.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { tar } from '../../../apps/ops/src/tar.js';
import { BY, connect, ledgerOn, openBook, type Ledger } from './books.js';
import type { ServedStore } from './event-store.js';
import type { AddRow } from './row.js';

const PERIOD = '2026-10';
const IN_OCTOBER = Date.parse('2026-10-15T12:00:00Z');
const IN_NOVEMBER = Date.parse('2026-11-01T00:00:01Z');
/** With its opening and its grant, a book then has 1,000 events. */
const READINGS = 499;
/** Books filled, and closed, at the same time. */
const AT_ONCE = 16;
const CODES = { receivable: '1', deferred: '2', revenue: '3', breakage: '4', corrections: '5' };

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
};

/** Runs work for each item, a few at a time. */
const forEach = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

/** A month of all books: closed, verified, reconciled, sealed and written, as `ops ledger month` does. */
export const measureMonth = async (store: ServedStore, books: number, add: AddRow): Promise<void> => {
  const events = connect(store.url);
  const workspaces = Array.from({ length: books }, (_, n) => `ws_${String(n).padStart(22, '0')}`);
  let now = IN_OCTOBER;
  await forEach(workspaces, (workspaceId) =>
    fill(
      ledgerOn(events, () => now),
      events,
      workspaceId,
    ),
  );

  now = IN_NOVEMBER;
  const rows = new Map<string, BalanceRow>();
  const cpu = process.cpuUsage();
  const closing = await timed(() =>
    closeAll(
      ledgerOn(events, () => now),
      workspaces,
      rows,
    ),
  );
  const key = createPrivateKey(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
  const [months, reconciler] = [new MonthBooks(PERIOD, key), new Reconciler(null, rows)];
  let seen = 0;
  const reading = await timed(() =>
    visitLog(events, (event) => {
      seen += 1;
      months.see(event);
      reconciler.see(event);
    }),
  );
  const writing = await timed(async () => {
    const { books: sealed, problems } = months.result();
    const reconciliation = reconciler.report(Infinity);
    const found = problems.length + reconciliation.differences.length;
    if (sealed.length !== books || found > 0)
      throw new Error(`The month of the benchmark has ${found} faults`);
    const files = monthFiles(PERIOD, sealed, reconciliation, CODES);
    files.set('trial-balance.pdf', monthPdf(PERIOD, sealed));
    files.set('month.json', signedMonth(PERIOD, sealed, reconciliation, files, key).json);
    gzipSync(
      tar(
        [...files].map(([name, bytes]) => ({ name, bytes })),
        0,
      ),
    );
  });
  const all = closing + reading + writing;
  const { user, system } = process.cpuUsage(cpu);
  add({
    what: `month close of ${books} books of 1,000 events, ${seen} events in the log`,
    measured: `${all.toFixed(0)} s: close ${closing.toFixed(0)}, verify, reconcile and seal ${reading.toFixed(0)} (${(seen / reading).toFixed(0)}/s), files ${writing.toFixed(1)}; CPU of this process ${((user + system) / 1e6).toFixed(1)} s`,
    aim: `≤ ${(books * 0.12).toFixed(0)} s`,
    met: all <= books * 0.12,
  });
  await events.close();
};

const fill = async (ledger: Ledger, store: EventStore, workspaceId: string): Promise<void> => {
  await openBook(ledger, workspaceId, READINGS * 20);
  await Promise.all(
    Array.from({ length: READINGS }, async (_, n) => {
      const reservationId = uuid5(workspaceId, 'reservation', String(n));
      const readingId = uuid5(workspaceId, 'reading', String(n));
      const causeEventId = uuid5(workspaceId, 'completed', String(n));
      const held = { reservationId, readingId, amount: 20 };
      await ledger.do(workspaceId, { type: 'ReserveCredits', ...held }, `reserve:${n}`);
      await store.append(
        `reading-${readingId}`,
        'no_stream',
        lifeOf(workspaceId, readingId, reservationId, causeEventId),
      );
      await ledger.do(workspaceId, { type: 'CaptureCredits', reservationId, causeEventId }, `capture:${n}`);
    }),
  );
};

/** A reading that was requested and completed, without the other events of its life. */
const lifeOf = (workspaceId: string, readingId: string, reservationId: string, completedId: string) => {
  const metadata = { ...BY, workspaceId, occurredAt: '2026-10-15T12:00:00.000Z', schemaVersion: 2 };
  const own = { workspaceId, reservationId };
  const asked = { productId: 'theme', profileId: 'evan', locale: 'fr-FR', asOf: '2026-10-15', cost: 20 };
  return [
    {
      id: readingId,
      type: 'ReadingRequested',
      data: { ...own, ...asked, sealedInput: Buffer.alloc(240, 7).toString('base64') },
      metadata,
    },
    {
      id: completedId,
      type: 'ReadingCompleted',
      data: { ...own, attempt: 1, sealedResult: Buffer.alloc(4_395, 7).toString('base64') },
      metadata,
    },
  ];
};

const closeAll = (
  ledger: Ledger,
  workspaces: readonly string[],
  rows: Map<string, BalanceRow>,
): Promise<void> =>
  forEach(workspaces, async (workspaceId) => {
    const outcome = await ledger.books.execute(
      workspaceId,
      (at) => ({ type: 'RecordDue', now: at }),
      'due',
      BY,
    );
    if (outcome.kind !== 'accepted') throw new Error(`RecordDue: ${outcome.kind}`);
    const revision = outcome.events.at(-1)!.revision;
    rows.set(workspaceId, { revision, balance: balanceOf(outcome.state) });
  });
