import { expect, it } from '@jest/globals';
import type { AsOf } from '#billing/contracts/index.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { requirePast } from './ledger.js';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const LAST = 3n;
const store = Object.assign(new InMemoryEventStore(), {
  async *read() {
    yield { revision: LAST } as StoredEvent;
  },
});
const of = (asOf: AsOf) => requirePast({ store, time: { now: async () => NOW } }, 'credits-ws_1', asOf);

it.each<AsOf>([{ revision: 0n }, { revision: LAST }, { instant: NOW }, { instant: 0 }])(
  'A balance as of %p is known',
  async (asOf) => expect(of(asOf)).resolves.toBeUndefined(),
);

it.each<[AsOf, RegExp]>([
  // A day without hyphens is a number, too.
  [{ revision: 20_261_101n }, /a revision from 0 to 3, .* or a time such as 2026-04-30/],
  [{ revision: LAST + 1n }, /a revision from 0 to 3/],
  [{ instant: NOW + 1 }, /not be in the future: it is 2026-11-28T12:00:00.000Z/],
])('One as of %p is not', async (asOf, message) => expect(of(asOf)).rejects.toThrow(message));
