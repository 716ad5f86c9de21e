import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { loadConfig } from '../../config/load-config.js';
import { settings } from '../../config/settings.js';
import { rateLimited } from '../../rate-limit/rate-limited.js';
import { refuse } from '../send-problem.js';
import { admissionOf } from './admission.js';
import { FrontDoor } from './front-door.js';

const KEY = Buffer.alloc(32).toString('base64');
const open: { server?: Server; sockets: Socket[] } = { sockets: [] };

afterEach(() => {
  for (const socket of open.sockets.splice(0)) socket.destroy();
  open.server?.closeAllConnections();
  open.server?.close();
});

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
const ok: Listener = (_, response) => void response.end('from the route');

/** A door with one token per address; by default, it holds refusals longer than a test lasts. */
const doorOf = async (changes: Record<string, string> = {}, listener: Listener = ok) => {
  const door = new FrontDoor(
    loadConfig(settings, {
      DATABASE_URL: 'postgresql://x@localhost/x',
      EVENTSTORE_URL: 'esdb://localhost:1',
      ENCRYPTION_KEYS: `k1:${KEY}`,
      DIGEST_KEY: KEY,
      RATE_PUBLIC_PER_MINUTE: '1',
      RATE_PUBLIC_BURST: '1',
      RATE_PROBE_PER_MINUTE: '1',
      RATE_PROBE_BURST: '1',
      HTTP_REFUSAL_HOLD_MS: '600000',
      ...changes,
    }),
  );
  const server = createServer();
  open.server = server;
  door.guard(server, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** What the door does with a request on its own connection. */
  const ask = (path = '/nothing', { method = 'GET', headers = '' } = {}) => {
    const socket = connect(port, '127.0.0.1');
    open.sockets.push(socket);
    const asked = { text: '', ended: false, end: Promise.resolve() as Promise<unknown> };
    socket.on('error', () => undefined);
    socket.on('data', (data) => (asked.text += data.toString()));
    asked.end = new Promise((resolve) => socket.once('close', resolve)).then(() => (asked.ended = true));
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}\r\n`);
    return asked;
  };
  return { door, ask };
};

const statusOf = async (asked: { text: string; end: Promise<unknown> }): Promise<string> => {
  await asked.end;
  return asked.text.slice(9, 12);
};

const HELD = 16;

describe('A delayed refusal', () => {
  it('is limited to sixteen per address; the connection of a further one is closed without an answer', async () => {
    const { ask, door } = await doorOf();
    expect(await statusOf(ask())).toBe('200');
    const asked = Array.from({ length: HELD + 5 }, () => ask());
    await Promise.race([
      Promise.all(asked.map(({ end }) => end)),
      new Promise<void>((resolve) => {
        const look = setInterval(() => {
          if (asked.filter(({ ended }) => ended).length < 5) return;
          clearInterval(look);
          resolve();
        }, 10).unref();
      }),
    ]);
    expect(asked.filter(({ ended }) => ended)).toHaveLength(5);
    expect(asked.map(({ text }) => text).join('')).toBe('');
    expect(door.refused.rate).toBe(HELD + 5);
  });

  it('makes room for another when its caller disconnects', async () => {
    const { ask } = await doorOf({ HTTP_REFUSAL_HOLD_MS: '20' });
    await statusOf(ask());
    for (let round = 0; round < 3; round += 1) {
      const all = await Promise.all(Array.from({ length: HELD }, () => statusOf(ask())));
      expect(new Set(all)).toEqual(new Set(['429']));
    }
  });

  it('is sent at once behind proxies, whose connections are shared', async () => {
    const { ask } = await doorOf({ TRUSTED_PROXIES: '1' });
    const headers = 'x-forwarded-for: 203.0.113.9\r\n';
    await statusOf(ask('/nothing', { headers }));
    const all = await Promise.all(
      Array.from({ length: HELD + 5 }, () => statusOf(ask('/nothing', { headers }))),
    );
    expect(new Set(all)).toEqual(new Set(['429']));
  });
});

describe('The count of refusals', () => {
  it('includes every 429 for an address, from any part of the service', async () => {
    const policy = { name: 'unauthenticated', perMinute: 1, burst: 1 } as const;
    const { ask, door } = await doorOf({ HTTP_REFUSAL_HOLD_MS: '1' }, (request, response) =>
      refuse(request, response, rateLimited(policy, { retryAfterSeconds: 1 }), 'req_1'),
    );
    expect(await statusOf(ask('/api/x', { headers: 'x-api-key: none\r\n' }))).toBe('429');
    expect(door.refused.rate).toBe(1);
  });
});

describe('A probe', () => {
  const health =
    (state: { status: number; body: string; asked: number }): Listener =>
    (request, response) => {
      state.asked += 1;
      response.statusCode = state.status;
      admissionOf(request)?.remember(state.status, state.body);
      response.end(state.body);
    };

  it.each(['/healthz', '/readyz?at=1'])('is never refused, and costs its route little: %s', async (path) => {
    const state = { status: 503, body: '{"status":"stuck"}', asked: 0 };
    const { ask, door } = await doorOf({}, health(state));
    for (let n = 0; n < 30; n += 1) {
      const asked = ask(path);
      expect(await statusOf(asked)).toBe('503');
      expect(asked.text.endsWith('{"status":"stuck"}')).toBe(true);
    }
    expect(state.asked).toBeLessThan(30);
    expect(door.refused.rate).toBe(0);
  });

  it('is answered by its route again once the last answer is a second old', async () => {
    const state = { status: 200, body: '{"status":"ok"}', asked: 0 };
    const { ask } = await doorOf({}, health(state));
    await statusOf(ask('/healthz'));
    state.status = 503;
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await statusOf(ask('/healthz'))).toBe('503');
  });

  it('is a GET or HEAD: other methods count as public requests', async () => {
    const { ask } = await doorOf({ HTTP_REFUSAL_HOLD_MS: '1' });
    const method = 'POST';
    expect(await statusOf(ask('/healthz', { method }))).toBe('200');
    expect(await statusOf(ask('/healthz', { method }))).toBe('429');
    expect(await statusOf(ask('/healthz'))).toBe('200');
  });
});
