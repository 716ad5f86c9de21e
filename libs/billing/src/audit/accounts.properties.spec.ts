import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { it } from '@jest/globals';
import fc from 'fast-check';
import { instant } from '#event-sourcing/core/clock.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { rounds, seedOr } from '../../../../test/support/rounds.js';
import { CODES } from '../../test/audit-config.js';
import { exportOf, TestBook, WS } from '../../test/book.js';
import { commands } from '../../test/commands.js';
import { parsedCsv } from '../../test/parsed-csv.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { CreditsCommand } from '../domain/credits.decider.js';
import { grantedBy } from '../domain/credits.state.js';
import { knownIn } from '../../test/adjustment.js';
import { journalCsv, monthOfBooks } from './month.js';
import { bookEvent } from './book-entry.js';
import { VerifiedBooks } from './verify-book.js';

/** Two operators reverse a part of some entry, or take such a reversal back by the same entry. */
interface Reversal {
  readonly entry: number;
  readonly part: number;
  readonly takesBack: boolean;
  /** From the grant of the entry, as commands propose it; otherwise in burn order. */
  readonly ownGrant: boolean;
}
const reversal: fc.Arbitrary<Reversal> = fc.record({
  entry: fc.nat(),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  takesBack: fc.nat(3).map((n) => n === 0),
  ownGrant: fc.nat(3).map((n) => n > 0),
});
const steps = fc.tuple(commands, fc.array(fc.array(reversal, { maxLength: 2 }), { maxLength: 40 }));

const events = (book: TestBook) => book.events.map((one) => bookEvent(one) as Recorded<CreditsEvent>);

const reverse = async (book: TestBook, now: number, asked: Reversal): Promise<void> => {
  const all = events(book);
  const entry = all[asked.entry % all.length]!;
  const { id } = entry;
  const { reversible, reversed } = knownIn(book.events).of(id);
  const grantId = grantedBy(entry);
  const most = asked.takesBack ? -reversed : reversible - reversed;
  const amount = Math.sign(most) * Math.ceil(Math.abs(most) * asked.part);
  if (amount === 0) return;
  const from = amount < 0 && asked.ownGrant ? { grantId } : {};
  await book.correct(instant(now), { amount, reversesEventId: id, ...from }).catch(onlyRefused);
};

/** Of a command that the book refuses or has done before. */
const onlyRefused = (error: Error): void => {
  if (!/: (rejected|ignored)$|^"Workspace \w+: only \d+ credits/.test(error.message)) throw error;
};

/** Reservations that were settled are not made again: a request reads its reading first. */
const renewed = (command: CreditsCommand, settled: Set<string>): CreditsCommand => {
  if (command.type === 'ReserveCredits') {
    const reservations = command.reservations.filter(({ reservationId }) => !settled.has(reservationId));
    return { ...command, reservations };
  }
  if (command.type !== 'CaptureCredits' && command.type !== 'ReleaseCredits') return command;
  settled.add(command.reservationId);
  return { ...command, causeEventId: `end-${command.reservationId}` };
};

const written = async ([sequence, reversals]: readonly [
  readonly CreditsCommand[],
  readonly (readonly Reversal[])[],
]): Promise<TestBook> => {
  const book = new TestBook();
  let now = sequence[0]?.now ?? 0;
  await book.do(instant(now), { type: 'OpenBook', workspaceId: WS });
  const settled = new Set<string>();
  for (const [index, asked] of sequence.entries()) {
    if (asked.now < now) continue;
    ({ now } = asked);
    await book.do(instant(now), renewed(asked, settled)).catch(onlyRefused);
    for (const one of reversals[index] ?? []) await reverse(book, now, one);
  }
  // The end of the last month.
  await book.do(instant(now + 32 * 86_400_000), { type: 'RecordDue' });
  return book;
};

const key = generateKeyPairSync('ed25519').privateKey;

const add = (to: Map<string, number>, name: string, cents: number) =>
  to.set(name, (to.get(name) ?? 0) + cents);

it('Assets are liabilities and income after any month of any book, and every verifier agrees', async () => {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const book = await written(sequence);
    const all = events(book);
    const sold = new Map<string, number>();
    /** Debit less credit: of each account, and of what each entry names. */
    const [accounts, paidBack] = [new Map<string, number>(), new Map<string, number>()];
    for (const { type, data } of all) {
      if (type === 'PlanGranted' || type === 'PackPurchased') sold.set(data.grantId, data.priceCents);
      if (type !== 'PeriodClosed') continue;
      const { period } = data;
      const verified = new VerifiedBooks(period, 10_000);
      for (const event of book.events) verified.see(event, bookEvent(event));
      const { books, problems } = monthOfBooks(period, verified.result(), [], key);
      assert.deepEqual(problems, []);
      const [, ...rows] = parsedCsv(journalCsv(period, books, CODES));
      for (const [, , account, debit, credit, , , of] of rows) {
        add(accounts, account!, Number(debit) - Number(credit));
        if (account === CODES.refunds) add(paidBack, of!, Number(credit) - Number(debit));
      }
      const balance = (name: string): number => accounts.get(name) ?? 0;
      const { closing } = books[0]!.seal.money;
      assert.equal(
        balance(CODES.receivable),
        [...sold.values()].reduce((sum, cents) => sum + cents, 0),
      );
      // The grants that are left have what the journal says.
      assert.equal(balance(CODES.deferred) + closing, 0);
      const income = -balance(CODES.revenue) - balance(CODES.breakage) - balance(CODES.corrections);
      assert.equal(balance(CODES.receivable), closing - balance(CODES.refunds) + income);
      assert.ok(balance(CODES.revenue) <= 0 && balance(CODES.breakage) <= 0);
      for (const [of, cents] of paidBack) assert.ok(cents >= 0 && cents <= sold.get(of)!, `${of}: ${cents}`);
    }
    const bytes = [Buffer.from(await exportOf(book.events))];
    assert.deepEqual(verifyAlone(linesIn(bytes)).findings, []);
  });
  await fc.assert(property, { numRuns: rounds(50, 2_500), seed: seedOr(20261120) });
}, 900_000);
