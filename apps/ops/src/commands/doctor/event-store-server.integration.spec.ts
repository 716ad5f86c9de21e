import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { checkEventStore } from './dependencies.js';
import type { Config } from '../../../../service/src/settings.js';

let server: Server | undefined;
afterEach(() => void server?.close());

/** A server that answers these paths. */
const serving = async (answers: Readonly<Record<string, unknown>>): Promise<string> => {
  server = createServer(({ url = '' }, response) => {
    const answer = answers[url];
    response
      .writeHead(answer === undefined ? 401 : 200)
      .end(answer === undefined ? '' : JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `esdb://127.0.0.1:${(server.address() as AddressInfo).port}?tls=false`;
};
const store = { head: () => Promise.resolve(5n) } as EventStore;
const check = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);
const option = (name: string, value: number) => ({ name, value: String(value) });

it('The doctor says what the event store takes in one append and in one event', async () => {
  const url = await serving({
    '/info': { esVersion: '26.1.0' },
    '/info/options': [option('MaxAppendSize', 268_435_456), option('MaxAppendEventSize', 16_777_216)],
  });
  expect((await check(url)).message).toContain(
    'EventStoreDB 26.1.0, takes 268435456 bytes in one append, 16777216 in one event',
  );
});

it('The doctor warns of an event store that takes less than the service sends', async () => {
  const url = await serving({
    '/info': { esVersion: '23.10.6' },
    '/info/options': [option('MaxAppendSize', 500_000)],
  });
  expect(await check(url)).toMatchObject({
    level: 'warning',
    advice: expect.stringContaining('raise MaxAppendSize'),
  });
});

it('The doctor says when an event store shows its limits to operators only', async () => {
  const url = await serving({ '/info': { esVersion: '23.10.6' } });
  expect((await check(url)).message).toContain('EventStoreDB 23.10.6, limits not shown to this login');
});
