import { describe, expect, it } from '@jest/globals';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { isSoak } from '../../../../test/support/rounds.js';
import {
  correctedBook,
  eventfulBook,
  exportOf,
  idleBook,
  openedBook,
  bookWithSetAside,
  rechained,
  type TestBook,
} from '../../test/book.js';
import { storedInParts } from '../../test/in-parts.js';
import { mutantsOf, sampledMutants } from '../../test/mutations.js';
import { refundedBook } from '../../test/refunded-book.js';
import type { ExportRange } from '../contracts/audit.js';

/** The long form tries every mutant, in minutes; CI a sample with each member in it, in seconds. */
const ONE_OF = 64;

const WHOLE: ExportRange = { from: null, to: null };

/** The close of April in parts, and when it was recorded. Its first part is a millisecond older. */
const CLOSE = Date.parse('2026-05-09T09:00:00.000Z');
const dividedBook = async () => {
  const events = storedInParts((await eventfulBook()).events);
  const first = events.findIndex(({ type }) => type === 'PeriodCarried');
  const { metadata } = events[first]!;
  const earlier = { ...metadata, occurredAt: new Date(CLOSE - 1).toISOString() };
  return { events: rechained(events.with(first, { ...events[first]!, metadata: earlier })) };
};

const dividedIdleBook = async () => ({ events: storedInParts((await idleBook()).events) });

/** Books that differ in what is in them, and the parts of them that are exported. */
const EXPORTS: readonly (readonly [
  name: string,
  book: () => Promise<Pick<TestBook, 'events'>>,
  range: ExportRange,
])[] = [
  ['a book with everything', eventfulBook, WHOLE],
  ['its first month', eventfulBook, { period: '2026-04' }],
  ['its second month, after the close of the first', eventfulBook, { period: '2026-05' }],
  ['its open month', eventfulBook, { period: '2026-06' }],
  [
    'a part of a month',
    eventfulBook,
    { from: Date.parse('2026-04-13'), to: Date.parse('2026-05-11T09:00:00Z') },
  ],
  ['a book with entries that are passed over', bookWithSetAside, WHOLE],
  ['the open month of such a book', bookWithSetAside, { period: '2026-06' }],
  ['nothing of it', eventfulBook, { from: Date.parse('2027-01-01'), to: null }],
  ['a book that was only opened', openedBook, WHOLE],
  ['a book with idle months', idleBook, WHOLE],
  ['a book with signed corrections, a change and a cancellation', correctedBook, WHOLE],
  ['its first month, with a planned change', correctedBook, { period: '2026-04' }],
  ['a book that closes its months in parts', dividedBook, WHOLE],
  ['its second month, after the parts of the first', dividedBook, { period: '2026-05' }],
  ['a part of it that begins inside a close', dividedBook, { from: CLOSE, to: null }],
  ['a book with an open hold that closes in parts', dividedIdleBook, WHOLE],
  ['a book with an undone refund', refundedBook, WHOLE],
  ['its second month, of which the refund is no part', refundedBook, { period: '2026-05' }],
];

const verify = (bytes: Uint8Array) => verifyAlone(linesIn([bytes]));

/** Members with a mutant in one of the exports. */
const covered = new Set<string>();

describe('an export', () => {
  it.each(EXPORTS)(
    'of %s is right, and no change of its meaning passes the auditor’s file',
    async (_, of, range) => {
      const text = await exportOf((await of()).events, 'jsonl', range);
      expect(verify(Buffer.from(text)).findings).toEqual([]);

      const survivors: string[] = [];
      let count = 0;
      const mutants = isSoak ? mutantsOf(text) : sampledMutants(text, ONE_OF, covered);
      for (const { name, member, isHarmless, bytes } of mutants) {
        count += 1;
        if (member !== null) covered.add(member);
        const { ok, findings } = verify(bytes());
        if (ok !== isHarmless) survivors.push(name);
        if (findings.some(({ field }) => !field)) survivors.push(`${name}: no field`);
      }
      if (isSoak) process.stdout.write(`${count} mutants\n`);
      expect(survivors).toEqual([]);
      expect(count).toBeGreaterThan(5);
    },
    600_000,
  );
});
