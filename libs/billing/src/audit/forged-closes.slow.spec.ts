import { describe, expect, it } from '@jest/globals';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { isSoak } from '../../../../test/support/rounds.js';
import { correctedBook, eventfulBook, exportOf, idleBook, bookWithSetAside } from '../../test/book.js';
import { refundedBook } from '../../test/refunded-book.js';
import { membersOf } from '../../test/export-members.js';
import { closesIn, forgedCloses, placesIn } from '../../test/forged-closes.js';
import { storedInParts } from '../../test/in-parts.js';
import { creditsEvents } from '../contracts/events.js';

/** The long form tries every change, in half a minute; CI a sample. */
const ONE_OF = isSoak ? 1 : 24;

const exports = async () => {
  const books = [
    await eventfulBook(),
    await bookWithSetAside(),
    await idleBook(),
    await correctedBook(),
    await refundedBook(),
  ];
  const whole = await Promise.all(books.map(({ events }) => exportOf(events)));
  const divided = storedInParts(books[0]!.events);
  return [
    ...whole,
    await exportOf(books[0]!.events, 'jsonl', { period: '2026-05' }),
    await exportOf(divided),
    await exportOf(divided, 'jsonl', { period: '2026-05' }),
  ];
};

describe('a closed month', () => {
  it('has each member of its schemas in these books', async () => {
    const places = placesIn((await exports()).flatMap(closesIn));
    const { PeriodCarried, PeriodClosed } = creditsEvents.definitions;
    const members = [PeriodCarried, PeriodClosed]
      .flatMap(({ schema }) => membersOf(z.toJSONSchema(schema)))
      .map((member) => member.replaceAll('[]', ''));
    expect(members).toContain('subscription.endsAt');
    expect(members).toContain('carried.digest');
    expect(members.filter((member) => !places.has(member))).toEqual([]);
  });

  it('cannot be changed in any member, with a chain that fits, unless the auditor’s file finds it there', async () => {
    const texts = await exports();
    const values = texts.flatMap(closesIn);
    const survivors: string[] = [];
    let count = 0;
    for (const text of texts) {
      for (const { name, line, lastLine, text: forged } of forgedCloses(text, values)) {
        const isThere = ({ findings: [first] }: { findings: readonly { line: number }[] }): boolean =>
          first !== undefined && first.line >= line && first.line <= lastLine;
        if (crc32(name) % ONE_OF !== 0) continue;
        count += 1;
        const bytes = Buffer.from(forged());
        if (!isThere(verifyAlone(linesIn([bytes])))) survivors.push(name);
      }
    }
    expect(survivors).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });
});
