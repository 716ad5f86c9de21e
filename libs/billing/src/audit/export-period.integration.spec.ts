import { beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { linesIn, trustedKeys, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { auditConfig } from '../../test/audit-config.js';
import { altered, eventfulBook, exportOf, rechained, type TestBook, WS } from '../../test/book.js';
import { SealPeriodHandler } from '../application/audit/seal-period.handler.js';
import { SealPeriod } from '../contracts/index.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const keys = trustedKeys([Buffer.from(publicKey)]);

let book: TestBook;
beforeAll(async () => {
  book = await eventfulBook();
});

const sealOf = async (period: string) => {
  const result = await new SealPeriodHandler(book.store, auditConfig()).execute(
    new SealPeriod(WS, period, privateKey),
  );
  if (result.outcome !== 'sealed') throw new Error(result.outcome);
  return result.seal;
};

const verify = async (period: string, sealed = period, events: readonly StoredEvent[] = book.events) => {
  const text = await exportOf(events, 'jsonl', { period });
  return verifyExport(linesIn([Buffer.from(text)]), { seals: [await sealOf(sealed)], keys });
};

describe('the export of a month', () => {
  it.each(['2026-04', '2026-05'])('verifies against its seal, balances and money too: %s', async (period) => {
    const { money } = await sealOf(period);
    expect(await verify(period)).toMatchObject({ ok: true, sealedPeriod: period, money });
  });

  it('starts with the close of the month before, and so verifies against that seal too', async () => {
    expect(await verify('2026-05', '2026-04')).toMatchObject({ ok: true, sealedPeriod: '2026-04' });
  });

  it('does not verify against the seal of a later month, or of a history that was rewritten', async () => {
    expect((await verify('2026-04', '2026-05')).findings).toMatchObject([{ field: 'seal.period' }]);
    const index = book.events.findIndex(({ type }) => type === 'CreditsAdjusted');
    const rewritten = rechained(book.events.with(index, altered(book.events[index]!, { reason: 'another' })));
    const { findings } = await verify('2026-04', '2026-04', rewritten);
    expect(findings.map(({ field }) => field)).toEqual(['seal.headHash']);
  });

  it('of an open month has its entries so far, and nothing of a month before the book', async () => {
    const open = await exportOf(book.events, 'jsonl', { period: '2026-06' });
    expect(verifyExport(linesIn([Buffer.from(open)]))).toMatchObject({ ok: true });
    expect(await exportOf(book.events, 'jsonl', { period: '2026-03' })).toBe('');
    expect(await exportOf(book.events, 'jsonl', { period: '2026-07' })).toBe('');
  });
});
