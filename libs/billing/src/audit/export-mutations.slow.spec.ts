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
  type TestBook,
} from '../../test/book.js';
import { storedInParts } from '../../test/in-parts.js';
import { mutantsOf, sampledMutants } from '../../test/mutations.js';
import { refundedBook } from '../../test/refunded-book.js';

/** The long form tries every mutant, in minutes; CI a sample with each member in it, in seconds. */
const ONE_OF = 64;

const dividedBook = async () => ({ events: storedInParts((await eventfulBook()).events) });
const dividedIdleBook = async () => ({ events: storedInParts((await idleBook()).events) });

/** Books that differ in what is in them, and the parts of them that are exported. */
const EXPORTS: readonly (readonly [
  name: string,
  book: () => Promise<Pick<TestBook, 'events'>>,
  period: string | null,
])[] = [
  ['a book with everything', eventfulBook, null],
  ['its first month', eventfulBook, '2026-04'],
  ['its second month, after the close of the first', eventfulBook, '2026-05'],
  ['its open month', eventfulBook, '2026-06'],
  ['a book with entries that are passed over', bookWithSetAside, null],
  ['the open month of such a book', bookWithSetAside, '2026-06'],
  ['a book that was only opened', openedBook, null],
  ['a book with idle months', idleBook, null],
  ['a book with signed corrections, a change and a cancellation', correctedBook, null],
  ['its first month, with a planned change', correctedBook, '2026-04'],
  ['a book that closes its months in parts', dividedBook, null],
  ['its second month, after the parts of the first', dividedBook, '2026-05'],
  ['a book with an open hold that closes in parts', dividedIdleBook, null],
  ['a book with an undone refund', refundedBook, null],
  ['its second month, of which the refund is no part', refundedBook, '2026-05'],
];

const verify = (bytes: Uint8Array) => verifyAlone(linesIn([bytes]));

/** Members with a mutant in one of the exports. */
const covered = new Set<string>();

describe('an export', () => {
  it.each(EXPORTS)(
    'of %s is right, and no change of its meaning passes the auditor’s file',
    async (_, of, period) => {
      const text = await exportOf((await of()).events, 'jsonl', period);
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
