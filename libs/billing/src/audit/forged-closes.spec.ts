import { describe, expect, it } from '@jest/globals';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { correctedBook, eventfulBook, exportOf, idleBook, quarantinedBook } from '../../test/book.js';
import { refundedBook } from '../../test/refunded-book.js';
import { membersOf } from '../../test/export-members.js';
import { closesIn, forgedCloses, placesIn } from '../../test/forged-closes.js';
import { creditsEvents } from '../contracts/events.js';
import { verifyExport } from './verify-export.js';

/** `LEDGER_MUTATIONS=all`: every change, in half a minute; otherwise a sample. */
const ONE_OF = process.env['LEDGER_MUTATIONS'] === 'all' ? 1 : 24;

const exports = async () => {
  const books = [
    await eventfulBook(),
    await quarantinedBook(),
    await idleBook(),
    await correctedBook(),
    await refundedBook(),
  ];
  const whole = await Promise.all(books.map(({ events }) => exportOf(events)));
  return [...whole, await exportOf(books[0]!.events, 'jsonl', { period: '2026-05' })];
};

describe('a closed month', () => {
  it('has each member of its schema in these books', async () => {
    const places = placesIn((await exports()).flatMap(closesIn));
    const schema = z.toJSONSchema(creditsEvents.definitions.PeriodClosed.schema);
    const members = membersOf(schema).map((member) => member.replaceAll('[]', ''));
    expect(members).toContain('subscription.endsAt');
    expect(members.filter((member) => !places.has(member))).toEqual([]);
  });

  it('cannot be changed in any member, with a chain that fits, unless both verifiers find it there', async () => {
    const texts = await exports();
    const values = texts.flatMap(closesIn);
    const survivors: string[] = [];
    let count = 0;
    for (const text of texts) {
      for (const { name, line, text: forged } of forgedCloses(text, values)) {
        if (crc32(name) % ONE_OF !== 0) continue;
        count += 1;
        const bytes = Buffer.from(forged());
        const [alone, own] = [verifyAlone(linesIn([bytes])), await verifyExport([bytes])];
        if (alone.findings[0]?.line !== line) survivors.push(`${name}: alone`);
        if (own.findings[0]?.line !== line) survivors.push(`${name}: own`);
      }
    }
    expect(survivors).toEqual([]);
    expect(count).toBeGreaterThan(100);
  }, 600_000);
});
