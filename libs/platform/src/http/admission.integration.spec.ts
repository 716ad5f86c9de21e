import { describe, expect, it } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { ratePolicies } from '../rate-limit/policies.js';
import { admissionOf, limitAddresses } from './admission.js';

/** A server with one token for an address. */
const limited = (answer: RequestHandler = (_, response) => void response.end('from the route')) => {
  const settings = {
    RATE_READ_PER_MINUTE: 1,
    RATE_CREATE_PER_MINUTE: 1,
    RATE_MANAGE_PER_MINUTE: 1,
    RATE_PUBLIC_PER_MINUTE: 1,
    TRUSTED_PROXIES: 0,
  };
  expect(ratePolicies(settings).public.burst).toBe(1);
  const app = express();
  app.use(limitAddresses(settings));
  app.use(answer);
  return request(app);
};

describe('a request that proves nothing about its sender', () => {
  it.each(['/nothing', '/api/v1/credits'])('is limited by address: %s', async (path) => {
    const http = limited();
    await http.get(path).expect(200);
    await http
      .get(path)
      .expect(429)
      .expect('retry-after', '60')
      .expect('content-type', /problem\+json/);
  });

  it('is not one with credentials for a route of the API, unless something else is wrong with it', async () => {
    const refusals: unknown[] = [];
    const http = limited((asked, response) => {
      refusals.push(admissionOf(asked)?.charge()?.code, admissionOf(asked)?.charge()?.code);
      response.end();
    });
    for (let count = 0; count < 2; count += 1)
      await http.get('/api/v1/credits').set('x-api-key', 'any').expect(200);
    // The first token was there; a request is counted once.
    expect(refusals).toEqual([undefined, undefined, 'rate_limited', undefined]);
    await http.get('/openapi.json').set('x-api-key', 'any').expect(429);
  });
});

describe('a probe', () => {
  const health =
    (state: { status: number; asked: number }): RequestHandler =>
    (asked, response) => {
      state.asked += 1;
      admissionOf(asked)?.remember(state.status, { status: 'stuck' });
      response.status(state.status).json({ status: 'stuck' });
    };

  it.each(['/healthz', '/readyz?at=1'])('is never refused, and costs its route little: %s', async (path) => {
    const state = { status: 503, asked: 0 };
    const http = limited(health(state));
    for (let count = 0; count < 150; count += 1) await http.get(path).expect(503, { status: 'stuck' });
    expect(state.asked).toBeLessThan(150);
  });

  it('is a GET or HEAD: other methods are limited', async () => {
    const http = limited();
    await http.post('/healthz').expect(200);
    await http.post('/healthz').expect(429);
    await http.get('/healthz').expect(200);
  });
});
