import { beforeEach, describe, expect, it } from '@jest/globals';
import { createPrivateKey } from 'node:crypto';
import type pg from 'pg';
import { auditConfig, CODES, sealKeys } from '../../test/audit-config.js';
import { streamOf } from '../../test/book.js';
import { CorrectionOffice } from '../../test/correction-office.js';
import { balanceAsOf } from './statements.js';
import { CloseMonth } from '../contracts/index.js';
import { createCreditsExecutor } from '../executors.js';
import { CreditBooks } from './credit-books.js';
import { CloseMonthHandler } from './close-month.js';

const KEY = createPrivateKey(sealKeys().privateKey);
/** No test waits for so long. */
const WAIT_MS = 60_000;
const BY = { actor: 'operator:ada', correlationId: 'month', causationId: 'month' };

/** What PostgreSQL answers: the rows of the balance view at each look, and the position of its projection. */
interface View {
  readonly lacks: readonly (readonly string[])[];
  readonly position: string | null;
}
const CAUGHT_UP: View = { lacks: [], position: null };

/** PostgreSQL's clock, and a balance view that has caught up with the books, but for the workspaces it lacks. */
const poolOf = (office: CorrectionOffice, { lacks, position }: View): pg.Pool => {
  const row = async (workspace_id: string) => {
    const stream = office.store.log.filter((event) => event.stream === `credits-${workspace_id}`);
    const revision = BigInt(stream.length - 1);
    return {
      workspace_id,
      revision: String(revision),
      balance: await balanceAsOf(streamOf(stream), { revision }, 10_000),
    };
  };
  let looks = 0;
  const query = async (asked: string | { readonly text: string }) => {
    const text = typeof asked === 'string' ? asked : asked.text;
    if (text.includes('clock_timestamp')) return { rows: [{ now: office.now }] };
    if (text.includes('event_sourcing.consumer')) return { rows: [{ position, epoch: '0' }] };
    const lacking = lacks[looks++] ?? [];
    return {
      rows: await Promise.all(['ws_1', 'ws_2'].filter((one) => !lacking.includes(one)).map(row)),
    };
  };
  return { query } as unknown as pg.Pool;
};

const close = (
  office: CorrectionOffice,
  period: string,
  view = CAUGHT_UP,
  progress?: CloseMonth['progress'],
) => {
  const { store, clock, config } = office;
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
  const handler = new CloseMonthHandler(books, store, poolOf(office, view), clock, auditConfig(config));
  return handler.execute(new CloseMonth(period, KEY, 60_000, WAIT_MS, CODES, () => BY, progress));
};

it('A month seals once an entry that nobody signed is compensated, and names the entry', async () => {
  const office = await CorrectionOffice.open();
  const forged = await office.bookUnsigned('ws_1', 50);
  office.now = Date.parse('2026-05-01T00:01:00.000Z');
  expect(await close(office, '2026-04')).toMatchObject({
    outcome: 'not_right',
    problems: [],
    differences: [{ kind: 'correction', workspaceId: 'ws_1' }],
    view: null,
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

describe('A month', () => {
  const LACKS_BOTH = ['ws_1', 'ws_2'];
  let office: CorrectionOffice;
  beforeEach(async () => {
    office = await CorrectionOffice.open();
    office.now = Date.parse('2026-05-01T00:02:00.000Z');
  });

  it('closes the books that the log shows to be open, whatever the balance view says, and waits for the view', async () => {
    const seen: string[] = [];
    const view = { lacks: [LACKS_BOTH, LACKS_BOTH, ['ws_2']], position: null };
    const month = await close(office, '2026-04', view, (done, total) => seen.push(`${done}/${total}`));
    expect(month).toMatchObject({ outcome: 'sealed', closedNow: 2, manifest: { books: 2 } });
    expect(seen).toEqual(expect.arrayContaining(['0/2', '1/2']));
  });

  it('is not sealed while only the view lacks books, and says so', async () => {
    const lacks = Array.from({ length: 20 }, () => LACKS_BOTH);
    const handled = { lacks, position: '1000000' };
    expect(await close(office, '2026-04', handled)).toMatchObject({
      outcome: 'not_right',
      problems: [],
      differences: [{ kind: 'balance_missing' }, { kind: 'balance_missing' }],
      view: 'billing.balance.v1',
    });
    expect(office.store.log.filter(({ type }) => type === 'PeriodClosed')).toHaveLength(2);
  });
});
