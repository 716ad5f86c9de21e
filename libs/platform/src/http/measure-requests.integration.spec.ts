import { afterEach, beforeEach, expect, it } from '@jest/globals';
import express, { type Request, type Response } from 'express';
import type { ArgumentsHost } from '@nestjs/common';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { measureRequests } from './measure-requests.js';
import { Problem } from './problem.js';
import { ProblemFilter } from './problem.filter.js';

let server: Server;
let base: string;
let registry: Registry;
let logged: object[];

const refuseWith = (problem: Problem) => (request: Request, response: Response) =>
  new ProblemFilter({ error: (line: object) => void logged.push(line) } as never).catch(problem, {
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
  } as ArgumentsHost);

beforeEach(async () => {
  registry = new Registry();
  logged = [];
  const app = express();
  app.use(measureRequests(registry));
  app.get('/ok', (_, response) => void response.end('ok'));
  app.get('/hangs', () => undefined);
  app.get('/away', refuseWith(new Problem('enqueue_unavailable')));
  app.get('/asked', refuseWith(new Problem('enqueue_unavailable', { isAsked: true })));
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** How many requests are counted with this route and status. */
const counted = async (route: string, status: string): Promise<number> => {
  const { values } = await (registry.getSingleMetric('http_requests_total') as never as Counted).get();
  return values.find(({ labels }) => labels.route === route && labels.status === status)?.value ?? 0;
};
interface Counted {
  get(): Promise<{ values: { labels: { route: string; status: string }; value: number }[] }>;
}

it('A request whose caller gave up is counted and timed as 499', async () => {
  const leaving = new AbortController();
  const asked = fetch(`${base}/hangs`, { signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  await expect(asked).rejects.toThrow();
  while ((await counted('/hangs', '499')) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await registry.metrics()).toMatch(
    /^http_request_duration_seconds_count\{route="\/hangs",method="GET",status="499"\} 1$/m,
  );
});

it('A refusal that a test reading asked for is no 5xx of the service, and no error in its log', async () => {
  for (const path of ['/ok', '/away', '/asked', '/asked']) await (await fetch(`${base}${path}`)).text();
  expect(await counted('/ok', '200')).toBe(1);
  expect(await counted('/away', '503')).toBe(1);
  expect(await counted('/asked', '503')).toBe(0);
  expect(await counted('/asked', 'asked_503')).toBe(2);
  expect(logged).toHaveLength(1);
});
