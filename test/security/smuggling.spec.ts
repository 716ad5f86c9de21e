import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Integrator } from '../support/integrator.js';
import { fixture, sharedStack } from '../support/index.js';

/** Requests with an ambiguous end, and text that attempts an injection. */
const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 100));

/** Sends these bytes and waits until the service closes. @returns everything it answered */
const send = (bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(stack.baseUrl);
    const socket = connect(Number(port), hostname);
    let told = '';
    socket.on('data', (data) => (told += data.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(told));
    socket.write(Buffer.from(bytes, 'latin1'));
  });
const statusesOf = (told: string): readonly string[] =>
  [...told.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, s = '']) => s);

const SMUGGLED = 'GET /api/v1/smuggled HTTP/1.1\r\nhost: api\r\nconnection: close\r\n\r\n';
const head = (...lines: readonly string[]): string =>
  `${['POST /api/v1/webhooks HTTP/1.1', 'host: api', `x-api-key: ${customer.apiKey}`, 'content-type: application/json', ...lines].join('\r\n')}\r\n\r\n`;

describe('A request with an ambiguous end', () => {
  it.each<[string, () => string]>([
    [
      'a length and chunks',
      () => head('content-length: 5', 'transfer-encoding: chunked') + `0\r\n\r\n${SMUGGLED}`,
    ],
    [
      'chunks and a length',
      () => head('transfer-encoding: chunked', 'content-length: 5') + `0\r\n\r\n${SMUGGLED}`,
    ],
    ['two lengths', () => head('content-length: 2', 'content-length: 60') + `{}${SMUGGLED}`],
    ['a list of lengths', () => head('content-length: 2, 60') + `{}${SMUGGLED}`],
    ['a length with a sign', () => head('content-length: +2') + `{}${SMUGGLED}`],
    ['a malformed length', () => head('content-length: 0x2') + `{}${SMUGGLED}`],
    ['an unknown coding', () => head('transfer-encoding: xchunked') + `0\r\n\r\n${SMUGGLED}`],
    ['a coding after chunks', () => head('transfer-encoding: chunked, identity') + `0\r\n\r\n${SMUGGLED}`],
    [
      'a coding with a space before its colon',
      () => head('transfer-encoding : chunked') + `0\r\n\r\n${SMUGGLED}`,
    ],
    ['a coding on a folded line', () => head('transfer-encoding:\r\n chunked') + `0\r\n\r\n${SMUGGLED}`],
    ['a folded line', () => head('x-a: b\r\n content-length: 60') + SMUGGLED],
    ['a NUL in a header', () => head('x-a: b\0content-length: 60') + SMUGGLED],
    [
      'lines that end with LF alone',
      () => head('content-length: 2').replaceAll('\r\n', '\n') + `{}${SMUGGLED}`,
    ],
    [
      'a chunk whose extension ends a line',
      () => head('transfer-encoding: chunked') + `2;a\n{}\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    [
      'a chunk longer than it says',
      () => head('transfer-encoding: chunked') + `2\r\n{}}\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    ['HTTP/2', () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${SMUGGLED}`],
  ])('%s is refused, and what follows it is ignored', async (_, bytes) => {
    const statuses = statusesOf(await send(bytes()));
    expect(statuses.filter((status) => status !== '400')).toEqual([]);
    expect(statuses.length).toBeLessThanOrEqual(1);
  });

  it.each(['h2c', 'websocket'])('an upgrade to %s is refused', async (protocol) => {
    const told = await send(
      `GET /api/v1/credits HTTP/1.1\r\nhost: api\r\nx-api-key: ${customer.apiKey}\r\nconnection: upgrade, close\r\nupgrade: ${protocol}\r\n\r\n${SMUGGLED}`,
    );
    expect(told).not.toContain(' 101 ');
  });

  it('a tunnel is refused', async () => {
    expect(await send('CONNECT 169.254.169.254:80 HTTP/1.1\r\nhost: api\r\n\r\n')).not.toContain(' 200 ');
  });
});

describe('A header', () => {
  it.each([
    ['x-http-method-override', 'DELETE'],
    ['x-original-url', '/api/v1/credits'],
    ['x-forwarded-host', 'evil.example'],
    ['x-forwarded-prefix', '/evil.example'],
    ['forwarded', 'host=evil.example'],
  ])('such as %s changes neither the method, nor the route, nor a link', async (name, value) => {
    const created = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: 'https://receiver.invalid/hook' },
      headers: { [name]: value },
    });
    const { endpointId } = created.body;
    expect([created.status, created.headers.get('location')]).toEqual([
      201,
      `/api/v1/webhooks/${endpointId}`,
    ]);
    expect((await customer.call('DELETE', `/api/v1/webhooks/${endpointId}`)).status).toBe(204);
  });
});

describe('An injection attempt', () => {
  const INJECTED = [
    "x'; drop schema webhooks cascade; --",
    "x' or '1'='1",
    '$1); select pg_sleep(20); --',
    '\r\n{"level":60,"msg":"forged"}\r\n',
    '\u001b[2J\u001b[1;1H',
    '${jndi:ldap://127.0.0.1/a}',
    '../../../../etc/passwd',
    '\u0000',
  ];

  it.each(INJECTED)('in an id, a cursor, a key or a filter is only text: %j', async (text) => {
    const encoded = encodeURIComponent(text);
    for (const path of [
      `/api/v1/readings/${encoded}`,
      `/api/v1/webhooks/${encoded}`,
      `/api/v1/webhooks/${encoded}/deliveries/${encoded}`,
      `/api/v1/webhooks/${encoded}/replays/${encoded}`,
      `/api/v1/readings?cursor=${encoded}`,
      `/api/v1/readings?status=${encoded}`,
      `/api/v1/events?cursor=${encoded}`,
    ]) {
      const { status } = await customer.call('GET', path);
      expect([path, [400, 404].includes(status)]).toEqual([path, true]);
    }
    const wrong = await fetch(`${stack.baseUrl}/api/v1/credits`, {
      headers: { 'x-api-key': encoded, 'user-agent': encoded, referer: encoded },
    });
    expect(wrong.status).toBe(401);
  });

  it('breaks no log line and forges none', () => {
    const lines = readFileSync(join(stack.dataDir, 'logs', 'api.log'), 'utf8')
      .split('\n')
      .filter(Boolean);
    const read = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    expect(read.filter(({ level, msg }) => level >= 50 || msg === 'forged')).toEqual([]);
    expect(lines.join('')).not.toMatch(/jndi|passwd|pg_sleep/);
  });
});
