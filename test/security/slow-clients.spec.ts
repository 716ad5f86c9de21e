import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Integrator, until } from '../support/integrator.js';
import { fixture, sharedStack, startApi } from '../support/index.js';
import { rounds } from '../support/rounds.js';

/**
 * Clients that hold a connection and send next to nothing. Clients that do not read their answers are in
 * libs/platform/src/http/http-adapter.integration.spec.ts.
 */
const CLIENTS = rounds(30, 2_000);

const stack = fixture(sharedStack);
const api = fixture(() =>
  startApi(stack, {
    // The default keeps an idle connection for more than a minute.
    HTTP_KEEP_ALIVE_MS: '5000',
    // As behind a proxy, one address may have any number of connections: only slowness ends them.
    TRUSTED_PROXIES: '1',
  }),
);
const customer = fixture(async () => (await Integrator.open(stack, 100)).at(stack, api.baseUrl));

const open = (): Socket => {
  const { hostname, port } = new URL(api.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
};

/** What a slow client sends: these bytes, then a few more again and again. */
interface Drip {
  readonly first: () => string;
  readonly more: string;
}

/** @returns the status line that the client has received when it is cut off */
const drip = ({ first, more }: Drip, everyMs = 200): Promise<string> =>
  new Promise((resolve) => {
    const socket = open();
    let told = '';
    const dripping = setInterval(() => socket.write(more), everyMs);
    socket.on('data', (data) => (told += data.toString()));
    socket.on('close', () => {
      clearInterval(dripping);
      resolve(told.split('\r\n')[0] ?? '');
    });
    socket.write(first());
  });

const post = (headers: string): string =>
  `POST /api/v1/readings HTTP/1.1\r\nhost: api\r\nx-api-key: ${customer.apiKey}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout';
/**
 * What a client that drips may receive. One that still sends when it is cut off can lose the answer to the reset of the
 * connection, and a chunk length with too many digits is invalid.
 */
const CUT_OFF = new Set([TIMED_OUT, '', 'HTTP/1.1 400 Bad Request']);

describe('A client that is slow', () => {
  const ways: Readonly<Record<string, Drip>> = {
    'with its headers': { first: () => 'GET /api/v1/credits HTTP/1.1\r\nhost: api\r\nx-slow: ', more: 'x' },
    'with the end of its headers': {
      first: () => 'GET /api/v1/credits HTTP/1.1\r\nhost: api\r\n',
      more: 'x-a: b\r\n',
    },
    'with its body': { first: () => `${post('content-length: 10000')}{`, more: 'x' },
    'with the chunks of its body': {
      first: () => `${post('transfer-encoding: chunked')}1\r\n{\r\n`,
      more: '1\r\n \r\n',
    },
    'with the length of a chunk': { first: () => post('transfer-encoding: chunked'), more: '0' },
  };

  /** @returns what a client receives that stops after the first bytes, and what those that drip should not receive */
  const answersTo = async (way: Drip): Promise<readonly string[]> => {
    const stalled = drip({ ...way, more: '' });
    const answers = new Set(await Promise.all(Array.from({ length: CLIENTS }, () => drip(way))));
    return [await stalled, ...[...answers].filter((line) => !CUT_OFF.has(line))];
  };

  it('in any way is cut off, and no other caller notices', async () => {
    const unexpected = Promise.all(
      Object.entries(ways).map(async ([name, way]) => [name, await answersTo(way)] as const),
    );
    expect((await customer.call('GET', '/api/v1/credits')).status).toBe(200);
    expect(Object.fromEntries(await unexpected)).toEqual(
      Object.fromEntries(Object.keys(ways).map((name) => [name, [TIMED_OUT]])),
    );
  });
});

/** Counts the scans of the readings table in 1.5 seconds. Each long poll causes ten per second. */
const looksAtReadings = async (): Promise<number> => {
  const count = async (): Promise<number> => {
    const [row] = await stack.query<{ scans: string }>(
      `select sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) as scans from pg_stat_user_tables
       where schemaname = 'readings' and relname = 'reading'`,
    );
    return Number(row!.scans);
  };
  const before = await count();
  await delay(1_500);
  return (await count()) - before;
};

describe('A connection', () => {
  /** Resolves once the service has closed all. */
  const closed = (sockets: readonly Socket[]): Promise<unknown> =>
    Promise.all(sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))));

  it('on which nothing is ever sent is closed', async () => {
    await closed(Array.from({ length: CLIENTS }, open));
  });

  it('that its client half-closes in the middle of a request is closed', async () => {
    const sockets = Array.from({ length: CLIENTS }, open);
    const ended = closed(sockets);
    for (const socket of sockets) socket.end(`${post('content-length: 10000')}{"a":`);
    await ended;
    expect((await customer.call('GET', '/api/v1/credits')).status).toBe(200);
  });

  it('that a client drops during a long poll leaves nothing behind', async () => {
    // Otherwise the reading would end, and with it the wait.
    process.kill(stack.pids().worker, 'SIGSTOP');
    const { body } = await customer.create();
    try {
      const sockets = Array.from({ length: CLIENTS }, open);
      for (const socket of sockets)
        socket.write(
          `GET /api/v1/readings/${body.readingId} HTTP/1.1\r\nhost: api\r\nx-api-key: ${customer.apiKey}\r\nprefer: wait=60\r\n\r\n`,
        );
      const answered = sockets.map((socket) => once(socket, 'data').then(() => true));
      expect(await Promise.race([...answered, delay(1_500, false)])).toBe(false);
      // PostgreSQL counts them late on a busy machine.
      await until(async () => (await looksAtReadings()) > 0, 'the long polls look at the reading');
      for (const socket of sockets) socket.destroy();
      expect((await customer.call('GET', '/api/v1/credits')).status).toBe(200);
      await until(async () => (await looksAtReadings()) === 0, 'no long poll is left');
    } finally {
      process.kill(stack.pids().worker, 'SIGCONT');
    }
    await customer.untilEnded(body.readingId);
  });
});
