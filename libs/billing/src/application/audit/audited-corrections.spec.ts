import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import { CorrectionOffice } from '../../../test/correction-office.js';
import { CloseMonth, ReconcileLedger, SealPeriod, VerifyLedger } from '../../contracts/index.js';
import { CloseMonthHandler } from '../close-month/close-month.handler.js';
import { adjustment } from '../../../test/adjustment.js';
import { ada, eve, OPERATORS, signedCommand } from '../../../test/operators.js';
import { auditConfig } from '../../../test/audit-config.js';
import { ReconcileLedgerHandler } from './reconcile-ledger.handler.js';
import { SealPeriodHandler } from './seal-period.handler.js';
import { VerifyLedgerHandler } from './verify-ledger.handler.js';

const UNSIGNED = 'no two operators signed this entry';
const FORGED = 'the signature of grace does not fit this entry';
const pool = {
  query: async (text: string) => ({ rows: text.includes('clock_timestamp') ? [{ now: office.now }] : [] }),
} as unknown as pg.Pool;
const BY = { actor: 'system:attacker', correlationId: 'c', causationId: 'c' };
let office: CorrectionOffice;

/** A signed correction, one that nobody signed, and one that only its proposer did. */
beforeEach(async () => {
  office = await CorrectionOffice.open();
  await office.correct('c1', { amount: 20 });
  await office.bookUnsigned('ws_1', 500);
  const asked = adjustment({ adjustmentId: 'forged', amount: 9, reference: 'INC-1' });
  const command = { ...signedCommand('ws_1', asked, [ada, eve]), now: office.now };
  await office.process().credits.execute('ws_1', () => command, 'forged', BY);
});

const verify = (workspaceId: string | null, operators = OPERATORS) =>
  new VerifyLedgerHandler(office.store, { ...office.config, OPERATORS: operators }).execute(
    new VerifyLedger(workspaceId),
  );

it('ledger verify names entries that no two operators signed', async () => {
  const { books, corrections } = await verify(null);
  expect(books.flatMap(({ findings }) => findings)).toEqual([]);
  expect(corrections).toMatchObject([
    { stream: 'credits-ws_1', revision: 2n, message: UNSIGNED },
    { stream: 'credits-ws_1', revision: 3n, message: FORGED },
  ]);
});

it('ledger verify of one book checks the signatures of its own entries', async () => {
  expect((await verify('ws_1')).corrections).toMatchObject([
    { revision: 2n, message: UNSIGNED },
    { revision: 3n, message: FORGED },
  ]);
  expect((await verify('ws_2')).corrections).toEqual([]);
});

it('ledger verify says in one finding that it knows no operators', async () => {
  expect((await verify(null, [])).corrections).toMatchObject([
    { message: expect.stringMatching(/^OPERATORS is not set here, .*: 3 findings$/) },
  ]);
});

it('ledger reconcile and the worker’s reconciliation find them', async () => {
  const handler = new ReconcileLedgerHandler(office.store, pool, office.clock, auditConfig(office.config));
  const { differences } = await handler.execute(new ReconcileLedger(null, 60_000));
  expect(differences.filter(({ kind }) => kind === 'correction')).toMatchObject([
    { workspaceId: 'ws_1', message: `credits-ws_1@2: ${UNSIGNED}` },
    { workspaceId: 'ws_1', message: `credits-ws_1@3: ${FORGED}` },
  ]);
});

it('ledger seal does not sign a book that has one, but another book', async () => {
  office.now = Date.parse('2026-05-02T00:00:00.000Z');
  const { credits } = office.process();
  const by = { actor: 'system:clock', correlationId: 'c', causationId: 'c' };
  for (const workspaceId of ['ws_1', 'ws_2'])
    await credits.execute(workspaceId, (now) => ({ type: 'RecordDue', now }), 'close', by);
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const seal = (workspaceId: string) =>
    new SealPeriodHandler(office.store, office.config).execute(new SealPeriod(workspaceId, '2026-04', pem));
  expect(await seal('ws_1')).toEqual({
    outcome: 'correction_not_signed',
    finding: { stream: 'credits-ws_1', revision: 2n, message: UNSIGNED },
  });
  expect(await seal('ws_2')).toMatchObject({ outcome: 'sealed' });
});

it('ledger month seals nothing while they are there', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const never = { execute: () => Promise.reject(new Error('nothing is due')) } as never;
  const handler = new CloseMonthHandler(
    never,
    never,
    office.store,
    pool,
    office.clock,
    auditConfig(office.config),
  );
  const result = await handler.execute(
    new CloseMonth('2026-03', pem, 60_000, 0, {} as never, () => null as never),
  );
  expect(result).toMatchObject({
    outcome: 'not_right',
    differences: expect.arrayContaining([expect.objectContaining({ kind: 'correction' })]),
  });
});
