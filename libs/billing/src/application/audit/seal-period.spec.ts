import { generateKeyPairSync } from 'node:crypto';
import { afterEach, expect, it, jest } from '@jest/globals';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { auditConfig } from '../../../test/audit-config.js';
import { altered, eventfulBook, WS } from '../../../test/book.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { SealPeriod } from '../../contracts/index.js';
import { SealPeriodHandler } from './seal-period.handler.js';

const KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
afterEach(() => {
  jest.restoreAllMocks();
});

const sealed = (events: readonly StoredEvent[]) => {
  async function* read() {
    yield* events;
  }
  return new SealPeriodHandler({ read } as unknown as EventStore, auditConfig()).execute(
    new SealPeriod(WS, '2026-04', KEY),
  );
};

it('A book whose dates are all wrong is sealed without a report for each entry', async () => {
  const { events } = await eventfulBook();
  const misdated = events.map((event) => ({
    ...event,
    recordedAt: Date.parse(event.metadata.occurredAt) - 60_000,
  }));
  const report = jest.spyOn(BookVerifier.prototype, 'report');
  expect(await sealed(misdated)).toMatchObject({ outcome: 'sealed' });
  expect(report.mock.calls.length).toBeLessThanOrEqual(1);
});

it('A book that does not verify is not sealed, and its first bad revision is named', async () => {
  const { events } = await eventfulBook();
  const changed = events.with(2, altered(events[2]!, { credits: 9 }));
  expect(await sealed(changed)).toEqual({ outcome: 'does_not_verify', firstBadRevision: 2n });
});
