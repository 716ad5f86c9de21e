import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { signatureFile, verifySignatureFile } from './signatures-file.js';

const folder = mkdtempSync(join(tmpdir(), 'signatures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const unreadable: StoredEvent = {
  id: '5ec2849c-95bf-449d-8388-148b564ea539',
  stream: 'credits-ws_1',
  revision: 18n,
  position: 64n,
  type: 'CreditsAdjusted',
  data: '{"amount": 20, "rea',
  metadata: {
    correlationId: '',
    causationId: '',
    workspaceId: '',
    actor: '',
    occurredAt: '2026-04-04T09:30:00.000Z',
    schemaVersion: 0,
  },
};
const quarantine = { consumers: null, by: 'operator:ada', reason: 'bad', at: '2026-04-04', until: null };

const linesOf = async (events: readonly StoredEvent[]): Promise<string[]> => {
  const store = {
    head: async () => 64n,
    async *readAll({ only }: { only: { categories: readonly string[] } }) {
      yield* events.filter(({ stream }) => only.categories.includes(categoryOf(stream)));
    },
    async *read(stream: string) {
      yield* events.filter((event) => event.stream === stream);
    },
  } as unknown as EventStore;
  const lines: string[] = [];
  for await (const line of signatureFile(store)) lines.push(line);
  return lines;
};
const verify = (lines: readonly string[], given?: string) => {
  const path = join(folder, 'corrections.jsonl');
  writeFileSync(path, lines.join(''));
  return verifySignatureFile(path, [], given);
};
const reportOf = async (events: readonly StoredEvent[]) => verify(await linesOf(events));

/** Statements of two streams in turn, then two entries of a book. */
const EVENTS = [
  ...[0n, 1n, 2n].flatMap((revision) =>
    ['operators-register', 'correction-c1'].map((stream) => ({ ...unreadable, stream, revision })),
  ),
  unreadable,
  { ...unreadable, revision: 25n },
];

describe('The file of signed corrections', () => {
  it('passes over quarantined entries, like the check of the log, and reports unreadable ones', async () => {
    expect(await reportOf([{ ...unreadable, quarantine }])).toMatchObject({ quarantined: 1, findings: [] });
    expect(await reportOf([unreadable])).toMatchObject({ quarantined: 0, findings: [{ revision: 18n }] });
  });

  it('is complete as it was written, and by the hash that its export printed', async () => {
    const lines = await linesOf(EVENTS);
    const { missing, sha256 } = await verify(lines);
    expect(missing).toEqual([]);
    expect((await verify(lines, sha256)).missing).toEqual([]);
    expect((await verify(lines, '0'.repeat(64))).missing).toHaveLength(1);
  });

  it('misses every line that is left out, repeated or moved', async () => {
    const lines = await linesOf(EVENTS);
    for (const [index, one] of lines.entries()) {
      expect((await verify(lines.toSpliced(index, 1))).missing).not.toEqual([]);
      expect((await verify(lines.slice(0, index))).missing).not.toEqual([]);
      if (index < EVENTS.length)
        for (const changed of [
          lines.toSpliced(index, 0, one),
          lines.with(index, lines[index + 1]!).with(index + 1, one),
        ])
          expect((await verify(changed)).missing).not.toEqual([]);
    }
  });

  it('misses a statement in the middle of its stream although the last line was made again', async () => {
    const without = await linesOf(EVENTS.toSpliced(2, 2));
    expect((await verify(without)).missing).toEqual([
      'operators-register: revision 1 is missing',
      'correction-c1: revision 1 is missing',
    ]);
  });

  it('has what the refund of a document follows from: an auditor needs no connection', async () => {
    const { metadata } = unreadable;
    const failureId = '0c1a4d5e-6f70-4a81-9b92-a3b4c5d6e7f8';
    const at = (position: bigint, stream: string, schemaVersion: number, type: string, data: object) => ({
      ...{ id: failureId, stream, revision: position, position, type, data },
      metadata: { ...metadata, schemaVersion },
    });
    const captured = { reservationId: 'r1', readingId: 'r1', amount: 20, causeEventId: 'completed' };
    const failed = { workspaceId: 'ws_1', version: 1, code: 'generation_failed' };
    // The id follows from that of the failure.
    const adjustmentId = '5a44ae1c-679b-5bf6-909e-6bad2503cb7a';
    const entry = {
      adjustmentId,
      amount: 20,
      allocations: [{ grantId: `adjustment:${adjustmentId}`, amount: 20 }],
      reason: 'the document of the reading could not be made',
      approvedBy: 'billing.document-refund',
      reversesEventId: 'capture',
      reference: 'r1',
      actor: 'system:billing.document-refund',
    };
    const events = [
      { ...at(2n, 'credits-ws_1', 1, 'CreditsCaptured', captured), id: 'capture' },
      { ...at(3n, 'credits-ws_1', 1, 'CreditsCaptured', captured), id: 'another' },
      at(4n, 'publication-r1', 1, 'PublicationFailed', failed),
      at(9n, 'credits-ws_1', 5, 'CreditsAdjusted', entry),
    ];
    const lines = await linesOf(events);
    expect(lines).toHaveLength(4);
    expect(await verify(lines)).toMatchObject({ documentRefunds: 1, findings: [], missing: [] });
    for (const cause of [0, 1])
      expect(await verify(lines.toSpliced(cause, 1))).toMatchObject({ findings: [{ revision: 9n }] });
  });
});
