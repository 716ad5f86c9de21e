import { beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import type { StoredEvent } from '#event-sourcing/core/event.js';
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
    expect(await verify(period)).toMatchObject({ ok: true, sealedPeriods: [period], money });
  });

  it('starts with the close of the month before, and so verifies against that seal too', async () => {
    expect(await verify('2026-05', '2026-04')).toMatchObject({ ok: true, sealedPeriods: ['2026-04'] });
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

describe('an export and several seals', () => {
  const check = async (seals: readonly object[], events = book.events, period?: string) => {
    const text = await exportOf(events, 'jsonl', period === undefined ? undefined : { period });
    return verifyExport(linesIn([Buffer.from(text)]), { seals, keys });
  };
  const both = async () => [await sealOf('2026-04'), await sealOf('2026-05')] as const;

  it('agree month by month, and all of them are listed', async () => {
    const seals = await both();
    const sealedPeriods = ['2026-04', '2026-05'];
    expect(await check(seals)).toMatchObject({ ok: true, sealedPeriods });
    expect(await check(seals, book.events, '2026-05')).toMatchObject({ ok: true, sealedPeriods });
  });

  it('agree though some seals are of later months, or of other books', async () => {
    const [april, may] = await both();
    const expected = { ok: true, sealedPeriods: ['2026-04'] };
    expect(await check([april, may], book.events, '2026-04')).toMatchObject(expected);
    const other = { ...may, workspaceId: 'ws_other', signature: '' };
    expect(await check([other, april])).toMatchObject(expected);
  });

  it('do not agree when one month was rewritten, or one seal is not signed', async () => {
    const [april, may] = await both();
    const index = book.events.findIndex(
      ({ type, metadata }) => type === 'CreditsReserved' && metadata.occurredAt.startsWith('2026-05'),
    );
    const changed = altered(book.events[index]!, { readingId: 'another' });
    const rewritten = rechained(book.events.with(index, changed));
    const { findings, sealedPeriods } = await check([april, may], rewritten);
    expect(sealedPeriods).toEqual(['2026-04']);
    expect(findings).toContainEqual(
      expect.objectContaining({ field: 'seal.headHash', message: expect.stringMatching(/^2026-05: /) }),
    );
    expect(findings.filter(({ message }) => message.startsWith('2026-04'))).toEqual([]);
    const unsigned = { ...may, signature: april.signature };
    expect((await check([april, unsigned])).findings).toMatchObject([{ field: 'seal.signature' }]);
  });

  it('do not agree when the export lacks a sealed month, or there is no seal at all', async () => {
    const [april, may] = await both();
    const march = { ...april, period: '2026-03' };
    const fields = (await check([march, may])).findings.map(({ field }) => field);
    expect(fields).toEqual(['seal.signature', 'seal.period']);
    expect((await check([])).findings).toMatchObject([{ field: 'seal.workspaceId' }]);
    const later = [april, may].map((seal) => ({ ...seal, period: '2027-01' }));
    expect((await check(later)).findings).toContainEqual(expect.objectContaining({ field: 'seal.period' }));
  });
});
