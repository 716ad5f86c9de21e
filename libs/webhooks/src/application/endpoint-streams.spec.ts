import { expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { DroppingEventStore } from '#event-sourcing/testing/dropping-event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type { WebhookEndpointCommand } from '../domain/webhook-endpoint.decider.js';
import { EndpointStreams } from './endpoint-streams.js';

const ENDPOINT = 'we_0b9a1c52-6f0e-4d7b-9a35-3f1f6a2f0c88';
const CHANGES = 200;

const CREATE: WebhookEndpointCommand = {
  type: 'CreateEndpoint',
  workspaceId: 'ws_1',
  url: 'https://receiver.example/',
  events: ['reading.completed'],
  modes: ['live'],
  notices: [],
  description: null,
  headersRef: null,
  maxPerSecond: null,
  verified: true,
  secretRef: '3f0c1b9e-5d1e-4c0a-9a57-2f6b0f0a7c11',
};

/** Counts the events read. */
class CountingStore extends InMemoryEventStore {
  events = 0;

  override async *read(...args: Parameters<InMemoryEventStore['read']>) {
    for await (const event of super.read(...args)) {
      this.events += 1;
      yield event;
    }
  }
}

it('Each change of an endpoint costs no more than the one before, however many there are', async () => {
  const store = new CountingStore();
  const [here, elsewhere] = [1, 2].map(() => new EndpointStreams(store, { now: () => 0 }));
  const change = (streams: EndpointStreams, n: number, request = `req_${n}`) =>
    streams.execute(
      ENDPOINT,
      { type: 'ChangeEndpoint', sees: ['live'], changes: { description: `change ${n}` }, ifRevision: null },
      { by: requestedBy('apiKey:test', request), workspaceId: 'ws_1' },
    );
  await here!.execute(ENDPOINT, CREATE, {
    by: requestedBy('apiKey:test', 'req'),
    workspaceId: 'ws_1',
    intent: 'create',
    fresh: true,
  });
  for (let n = 0; n < CHANGES; n += 1) expect((await change(here!, n)).kind).toBe('accepted');
  expect(store.events).toBeLessThan(CHANGES);
  // Changes by another process in between are seen.
  expect((await change(elsewhere!, CHANGES)).kind).toBe('accepted');
  const { kind, state } = await change(here!, CHANGES, 'req_again');
  expect([kind, state.revision, state.description]).toEqual([
    'ignored',
    BigInt(CHANGES + 1),
    `change ${CHANGES}`,
  ]);
});

it('One change of an endpoint that two processes make at the same moment is made once, and both know', async () => {
  const store = new DroppingEventStore();
  const processes = [1, 2].map(() => new EndpointStreams(store, { now: () => 0 }));
  const by = requestedBy('apiKey:test', 'req');
  const created = await Promise.all(
    processes.map((streams) =>
      streams.execute(ENDPOINT, CREATE, { by, workspaceId: 'ws_1', intent: 'create', fresh: true }),
    ),
  );
  expect(created.map(({ state }) => state.revision)).toEqual([0n, 0n]);
  expect(store.log.map(({ type }) => type)).toEqual(['WebhookEndpointCreated']);
  expect(store.dropped).toBe(1);
});
