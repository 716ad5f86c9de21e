import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TestApi } from '../../../test/api.js';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { eventually } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';
import { replayTask } from '../../application/replay.js';

const WS = 'ws_1';
/** Internal addresses, as a URL may name them (domain/webhook-url.spec.ts has more). `PORT` stands for a server on this machine. */
const LITERALS = [
  'http://2130706433:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://169.254.169.254/latest/meta-data',
  'http://localhost:PORT/',
];
/** What a name leads to. */
const NAMED: readonly (readonly [string, readonly string[]])[] = [
  ['nothing', []],
  ['a public and a private address', ['93.184.215.14', '127.0.0.1']],
  ['a mapped loopback', ['::ffff:127.0.0.1']],
];

let database: TestDatabase;
let api: TestApi;
let sending: TestService;
let inside: Server;
let port: number;
let connections = 0;
let leadsTo: readonly string[] = [];

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  connections = 0;
  inside = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => inside.listen(0, '::', resolve));
  ({ port } = inside.address() as AddressInfo);
  api = await TestApi.start(database, { WEBHOOK_ALLOW_HTTP: '1' });
  sending = new TestService(database, {
    store: api.store,
    resolve: async () => leadsTo,
    settings: { WEBHOOK_ALLOW_CIDRS: '', WEBHOOK_RETRY_SCHEDULE_MS: '0' },
  });
  sending.dispatch();
});
afterEach(async () => {
  await sending.stop();
  await api.stop();
  await new Promise((resolve) => inside.close(resolve));
});

const here = (literal: string): string => literal.replace('PORT', String(port));
const settled = (count: number): Promise<void> =>
  eventually(
    async () => (await sending.deliveries()).filter(({ status }) => status !== 'pending').length >= count,
  );
/** Sends to the endpoint in every possible way: an event, a test event, a redelivery, a replay. */
const sendInEveryWay = async (endpointId: string): Promise<void> => {
  await api.happen(WS, reading(randomUUID()).completed({ at: Date.now() }));
  await api.request('post', `/webhooks/${endpointId}/test`, WS, {}).expect(202);
  await settled(2);
  const { body: list } = await api.request('get', `/webhooks/${endpointId}/deliveries`, WS);
  const [{ deliveryId }] = (list as { data: [{ deliveryId: string }] }).data;
  await api.request('post', `/webhooks/${endpointId}/deliveries/${deliveryId}/redeliver`, WS).expect(202);
  const { body } = await api
    .request('post', `/webhooks/${endpointId}/replay`, WS, { since: '2026-01-01T00:00:00Z' })
    .expect(202);
  const { replayId } = body as { replayId: string };
  await replayTask(database.pool, { now: () => Date.now() }).handle(
    { replayId },
    new AbortController().signal,
  );
  await settled(4);
};

describe('An internal address', () => {
  it.each(LITERALS)(
    'is not dialled by an event, a test event, a redelivery or a replay: %s',
    async (literal) => {
      const { endpointId } = await api.createEndpoint(WS);
      // As if it had been accepted before the present rules.
      await database.pool.query('update webhooks.endpoint set url = $2 where endpoint_id = $1', [
        endpointId,
        here(literal),
      ]);
      leadsTo = ['127.0.0.1'];
      await sendInEveryWay(endpointId);
      const errors = new Set((await sending.attempts()).map(({ error }) => error));
      expect([...errors].every((error) => error === 'blocked_address' || error === 'invalid_url')).toBe(true);
      expect(await sending.attempts()).toHaveLength(4);
      expect(connections).toBe(0);
    },
  );
});

describe('A name that leads to no public address', () => {
  it.each(NAMED)('but to %s is not dialled, and looks like any other such name', async (_, addresses) => {
    const { endpointId } = await api.createEndpoint(WS, { url: `http://receiver.example:${port}/` });
    leadsTo = addresses;
    await sendInEveryWay(endpointId);
    expect((await sending.attempts()).map(({ error }) => error)).toEqual(Array(4).fill('dns_failed'));
    const { body } = await api.request('get', `/webhooks/${endpointId}/deliveries`, WS);
    for (const { lastAttempt } of (body as { data: { lastAttempt: object }[] }).data)
      expect(lastAttempt).toEqual({
        number: 1,
        startedAt: expect.any(String),
        durationMs: expect.any(Number),
        statusCode: null,
        error: 'dns_failed',
      });
    expect(connections).toBe(0);
  });
});
