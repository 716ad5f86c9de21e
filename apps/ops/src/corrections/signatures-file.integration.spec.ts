import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { signatureLines, verifySignatureFile } from './signatures-file.js';

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

const reportOf = async (events: readonly StoredEvent[]) => {
  const store = {
    head: async () => 64n,
    async *readAll() {
      yield* events;
    },
  } as unknown as EventStore;
  const lines: string[] = [];
  for await (const line of signatureLines(store)) lines.push(line);
  const path = join(folder, 'corrections.jsonl');
  writeFileSync(path, lines.join(''));
  return verifySignatureFile(path, []);
};

describe('The file of signed corrections', () => {
  it('passes over quarantined entries, like the check of the log, and reports unreadable ones', async () => {
    expect(await reportOf([{ ...unreadable, quarantine }])).toMatchObject({ quarantined: 1, findings: [] });
    expect(await reportOf([unreadable])).toMatchObject({ quarantined: 0, findings: [{ revision: 18n }] });
  });
});
