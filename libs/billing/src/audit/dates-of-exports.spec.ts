import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { linesIn, operatorsIn, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { exportOf, openedBook, rechained, renumbered } from '../../test/book.js';
import { OPERATORS_SETTING } from '../../test/operators.js';
import { BookVerifier } from './verify-book.js';

const verified = (text: string, operators: string) =>
  verifyExport(linesIn([Buffer.from(text)]), { operators: operatorsIn(operators) });

it('A correction that is dated in a month that was closed before, when its key was not retired yet, is found by the file of the auditor', async () => {
  const book = await openedBook();
  await book.do('2026-05-02T09:00:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o9' });
  await book.correct('2026-05-12T09:00:00Z', { amount: 500 });
  const last = book.events.at(-1)!;
  const metadata = { ...last.metadata, occurredAt: '2026-04-13T09:00:00.000Z' };
  const all = rechained(renumbered([...book.events.slice(0, -1), { ...last, metadata }]));
  const service = new BookVerifier(all[0]!.stream, 10_000);
  for (const event of all) service.see(event);
  expect(service.report().findings.map(({ check }) => check)).toContain('date');
  // Ada's key was stolen, and retired on 1 May.
  const operators = OPERATORS_SETTING.replace(/ada:[^,]+/, '$&:retired=2026-05-01T00:00:00Z');
  expect(verified(await exportOf(all), operators).ok).toBe(false);
  // After a wrong clock, dates before the open month are true.
  expect(verified(await exportOf(all), OPERATORS_SETTING).ok).toBe(true);
});

describe('A signed entry whose date is no instant', () => {
  it.each(['soon', ''])('is found, though its keys were retired before: %p', async (occurredAt) => {
    const book = await openedBook();
    await book.correct('2026-04-12T09:00:00Z', { amount: 500 });
    const revision = String(book.events.at(-1)!.revision);
    let chain = '';
    const lines = (await exportOf(rechained(book.events)))
      .trimEnd()
      .split('\n')
      .map((line) => {
        const value = JSON.parse(line) as {
          kind: string;
          facts: { revision: string; occurredAt: string };
          chain: string;
          headHash: string;
        };
        if (value.kind === 'event') {
          if (value.facts.revision === revision) {
            value.facts.occurredAt = occurredAt;
            value.chain = createHash('sha256')
              .update(chain + canonicalJson(value.facts))
              .digest('hex');
          }
          ({ chain } = value);
        }
        if (value.kind === 'footer') value.headHash = chain;
        return `${JSON.stringify(value)}\n`;
      });
    const retired = OPERATORS_SETTING.replaceAll(/,|$/g, ':retired=2026-01-01T00:00:00Z,');
    expect(verified(lines.join(''), retired).ok).toBe(false);
  });
});
