import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { linesIn, trustedKeys, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { exportOf, STREAM, TestBook } from '../../test/book.js';
import { BookVerifier } from './verify-book.js';

/** Written by the version before prices in closed months, references in corrections, and money in exports. */
const golden = (name: string): Buffer => readFileSync(projectPath('test/golden/ledger', name));

const verify = (bytes: Uint8Array) => verifyAlone(linesIn([bytes]));

describe('what an earlier version wrote', () => {
  it.each(['export-1.jsonl', 'export-1-part.jsonl', 'export-1-empty.jsonl'])('still verifies: %s', (name) => {
    expect(verify(golden(name)).findings).toEqual([]);
  });

  it.each(['2026-04', '2026-05'])('has a seal of %s that still verifies', (period) => {
    const seal = JSON.parse(golden(`seal-1-${period}.json`).toString()) as { closing: { consumed: number } };
    const keys = trustedKeys([golden('seal-1-public.pem')]);
    const check = (seals: readonly object[]) =>
      verifyAlone(linesIn([golden('export-1.jsonl')]), { seals, keys });
    expect(check([seal])).toMatchObject({ ok: true, sealedPeriods: [period] });
    const forged = { ...seal, closing: { ...seal.closing, consumed: 0 } };
    expect(check([forged]).findings.map(({ field }) => field)).toEqual(['seal.signature', 'seal.closing']);
  });

  it('is continued by this version, and then verifies as a whole and month by month', async () => {
    const book = new TestBook();
    for (const event of goldenEvents()) {
      const expected = event.revision === 0n ? 'no_stream' : event.revision - 1n;
      await book.store.append(STREAM, expected, [event]);
    }
    await book.do('2026-09-01T09:00:00Z', { type: 'RecordDue' });
    const closed = book.events.filter(({ type }) => type === 'PeriodClosed');
    expect(closed.map(({ metadata }) => metadata.schemaVersion)).toEqual([1, 1, 4, 4, 4]);
    const verifier = new BookVerifier(STREAM, 10_000);
    for (const event of book.events) verifier.see(event);
    expect(verifier.report().findings).toEqual([]);

    const whole = verify(Buffer.from(await exportOf(book.events)));
    expect([whole.findings, whole.money]).toEqual([[], expect.objectContaining({ currency: 'USD' })]);
    // The pack was sold before closed months stated prices: its price is only in the event that sold it.
    const month = await exportOf(book.events, 'jsonl', { period: '2026-07' });
    expect(verify(Buffer.from(month))).toMatchObject({ findings: [], money: null });
  });
});

const goldenEvents = (): StoredEvent[] =>
  golden('export-1.jsonl')
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; facts: Facts; chain: string })
    .filter(({ kind }) => kind === 'event')
    .map(({ facts: { eventId, stream, revision, type, data, occurredAt, schemaVersion }, chain }) => ({
      id: eventId,
      stream,
      revision: BigInt(revision),
      position: 0n,
      type,
      data,
      metadata: {
        correlationId: 'c',
        causationId: 'c',
        workspaceId: '',
        actor: '',
        occurredAt,
        schemaVersion,
        chain,
      },
    }));

interface Facts {
  readonly eventId: string;
  readonly stream: string;
  readonly revision: string;
  readonly type: string;
  readonly data: unknown;
  readonly occurredAt: string;
  readonly schemaVersion: number;
}
