import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type pg from 'pg';
import { auditConfig } from '../../../test/audit-config.js';
import { CorrectionOffice } from '../../../test/correction-office.js';
import { balanceAsOf } from '../../audit/balance-as-of.js';
import { CloseMonth, type RecordDue } from '../../contracts/index.js';
import { createCreditsExecutor } from '../../credits.executor.js';
import { CreditBooks } from '../credit-books.js';
import { CloseMonthHandler } from './close-month.handler.js';
import { RecordDueHandler } from '../record-due/record-due.handler.js';

const KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const CODES = { receivable: '1', deferred: '2', revenue: '3', breakage: '4', corrections: '5' };
const BY = { actor: 'operator:ada', correlationId: 'month', causationId: 'month' };

/** PostgreSQL's clock, and a balance view that has caught up with the books. */
const poolOf = (office: CorrectionOffice): pg.Pool => {
  const row = async (workspace_id: string) => {
    const stream = office.store.log.filter((event) => event.stream === `credits-${workspace_id}`);
    const revision = BigInt(stream.length - 1);
    async function* events() {
      yield* stream;
    }
    return {
      workspace_id,
      revision: String(revision),
      ...(await balanceAsOf(events(), { revision }, 10_000)),
    };
  };
  const query = async (text: string) =>
    text.includes('clock_timestamp')
      ? { rows: [{ now: office.now }] }
      : { rows: await Promise.all(['ws_1', 'ws_2'].map(row)) };
  return { query } as unknown as pg.Pool;
};

const close = (office: CorrectionOffice, period: string) => {
  const { store, clock, config } = office;
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
  const due = new RecordDueHandler(books);
  const commands = { execute: (command: RecordDue) => due.execute(command) };
  const handler = new CloseMonthHandler(
    commands as never,
    books,
    store,
    poolOf(office),
    clock,
    auditConfig(config),
  );
  return handler.execute(new CloseMonth(period, KEY, 60_000, CODES, () => BY));
};

it('A month seals once an entry that nobody signed is compensated, and names the entry', async () => {
  const office = await CorrectionOffice.open();
  const forged = await office.bookUnsigned('ws_1', 50);
  office.now = Date.parse('2026-05-01T00:01:00.000Z');
  expect(await close(office, '2026-04')).toMatchObject({
    outcome: 'not_right',
    problems: [],
    differences: [{ kind: 'correction', workspaceId: 'ws_1' }],
  });
  await office.correct('c1', { amount: -50, reversesEventId: forged.id });
  const month = await close(office, '2026-04');
  const note = {
    workspaceId: 'ws_1',
    message: expect.stringMatching(/^no two operators .*; compensated by c1$/),
  };
  expect(month).toMatchObject({ outcome: 'sealed', manifest: { books: 2, notes: 1 }, notes: [note] });
  const files = 'files' in month ? month.files : new Map<string, Uint8Array>();
  const file = (name: string): unknown => JSON.parse(Buffer.from(files.get(name)!).toString());
  expect(file('notes.json')).toMatchObject([{ ...note, revision: String(forged.revision) }]);
  expect(file('reconciliation.json')).toMatchObject({ compensated: [{ compensatedBy: 'c1' }] });
});
