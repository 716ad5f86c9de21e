import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startValidatingProxy, violationsIn, type ValidatingProxy } from './validating-proxy.js';

const found = (...locations: readonly string[]): Headers =>
  new Headers({
    'sl-violations': JSON.stringify(
      locations.map((location) => ({ location: [location, 'body'], message: 'is wrong' })),
    ),
  });

describe('What a validating proxy finds', () => {
  it('is a fault of any answer, and of a request that the API accepts', () => {
    expect(violationsIn(found('request', 'response'), 200)).toHaveLength(2);
    expect(violationsIn(found('request', 'response'), 400)).toEqual(['response.body is wrong']);
    expect(violationsIn(new Headers(), 200)).toEqual([]);
  });

  it('leaves no header', () => {
    const headers = found('response');
    violationsIn(headers, 200);
    expect([...headers.keys()]).toEqual([]);
  });
});

const isAsked = process.env['VALIDATING_PROXY'] !== undefined;

(isAsked ? describe : describe.skip)('Prism (skipped: npm run test:contract-proxy runs it)', () => {
  let api: Server;
  let proxy: ValidatingProxy;

  beforeAll(async () => {
    api = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(request.url === '/healthz' ? '{"status":"ok"}' : '{"available":"many"}');
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    proxy = (await startValidatingProxy(`http://127.0.0.1:${(api.address() as AddressInfo).port}`))!;
  });
  afterAll(async () => {
    await proxy?.stop();
    api?.close();
  });

  it('finds an answer and a request that differ from the document', async () => {
    const headers = { 'x-api-key': 'key' };
    const answer = await fetch(`${proxy.baseUrl}/api/v1/credits`, { headers });
    expect(violationsIn(new Headers(answer.headers), 400).join()).toContain('response.body');
    const { headers: told } = await fetch(`${proxy.baseUrl}/api/v1/readings?limit=many`, { headers });
    expect(violationsIn(new Headers(told), 200).join()).toContain('request.query.limit');
  });
});
