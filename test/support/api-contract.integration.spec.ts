import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { contractFaults, type SeenAnswer } from './api-contract.js';
import { assertObserved, observeServer } from './observe-contract.js';

const CREDITS = { available: 1, reserved: 0, grants: [] };

const answer = (changes: Partial<SeenAnswer> & { json?: unknown; carries?: Record<string, string> } = {}) => {
  const { json = CREDITS, carries = {}, ...rest } = changes;
  return {
    method: 'GET',
    target: '/api/v1/credits',
    status: 200,
    headers: new Headers({ 'content-type': 'application/json', 'x-request-id': 'req_1', ...carries }),
    body: Buffer.from(JSON.stringify(json)),
    ...rest,
  };
};

describe('An answer checked against the OpenAPI document', () => {
  it('conforms', () => {
    expect(contractFaults(answer())).toEqual([]);
  });

  it.each<[string, Parameters<typeof answer>[0], string]>([
    ['another status', { status: 201 }, 'the status 201 is not described'],
    ['another media type', { carries: { 'content-type': 'text/html' } }, 'text/html is not described'],
    ['an additional member', { json: { ...CREDITS, secret: 1 } }, 'must NOT have additional properties'],
    [
      'a missing header',
      { headers: new Headers({ 'content-type': 'application/json' }) },
      'the header X-Request-Id is missing',
    ],
  ])('differs by %s', (_, changes, fault) => {
    expect(contractFaults(answer(changes))).toEqual([expect.stringContaining(fault)]);
  });
});

describe('an observed server', () => {
  it('reports an answer that does not conform, whichever client sent the request', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-request-id', 'req_1');
      const json = JSON.stringify(
        request.url === '/api/v1/credits' ? CREDITS : { ...CREDITS, secret: 'whsec_…' },
      );
      response.write(json.slice(0, 10));
      response.end(json.slice(10));
    });
    observeServer(server);
    await supertest(server).get('/api/v1/credits').expect(200, CREDITS);
    await assertObserved();
    await supertest(server).get('/api/v1/credits?planted').expect(200);
    await supertest(server).get('/api/v1/credits');
    await expect(assertObserved()).rejects.toThrow(
      'GET /api/v1/credits?planted was answered 200 against docs/openapi.json',
    );
    await assertObserved();
  });
});
