import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { closedWithout } from './closed-without.js';

const BOOK = 'credits-ws_1';
let store: InMemoryEventStore;

const append = async (stream: string, type: string, data: object = {}): Promise<void> => {
  const revision = store.log.filter((event) => event.stream === stream).length;
  const metadata = {
    correlationId: 'c',
    causationId: 'c',
    workspaceId: '',
    actor: 'operator:ada',
    occurredAt: '2026-05-02T09:00:00.000Z',
    schemaVersion: 1,
  };
  const event = { id: `event-${store.log.length}`, type, data, metadata };
  await store.append(stream, revision === 0 ? 'no_stream' : BigInt(revision - 1), [event]);
};
const quarantine = (consumers: readonly string[] | null = null, stream = BOOK) =>
  append('quarantine-events', 'EventQuarantined', {
    ...{ stream, revision: '0', eventId: 'any', eventType: 'CreditsAdjusted', consumers },
    ...{ cause: 'version 9', reason: 'rolled back', until: null },
  });
const withdraw = () =>
  append('quarantine-events', 'QuarantineWithdrawn', { stream: BOOK, revision: '0', reason: '2.4' });
const close = async (...parts: 'PeriodCarried'[]) => {
  for (const type of [...parts, 'PeriodClosed']) await append(BOOK, type);
};
const found = () => closedWithout(store, store.log[0]!);

beforeEach(async () => {
  store = new InMemoryEventStore();
  await append(BOOK, 'CreditsAdjusted');
});

it('A month that was closed before the quarantine has the entry, and so have all later months', async () => {
  await close('PeriodCarried');
  await quarantine();
  expect(await found()).toBeNull();
  await close();
  expect(await found()).toBeNull();
});

it('A month that was closed during the quarantine lacks the entry', async () => {
  await quarantine();
  expect(await found()).toBeNull();
  await close('PeriodCarried');
  expect(await found()).toBe(1n);
  await withdraw();
  expect(await found()).toBe(1n);
});

it('A month has an entry whose quarantine was withdrawn before, or is of a consumer or another book', async () => {
  await quarantine(['billing.balance.v1']);
  await quarantine(null, 'credits-ws_2');
  await quarantine();
  await withdraw();
  await append('quarantine-events', 'Unheard');
  await close();
  await quarantine();
  expect(await found()).toBeNull();
});
