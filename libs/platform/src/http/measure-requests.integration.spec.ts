import { afterEach, beforeEach, expect, it } from '@jest/globals';
import express, { type Request, type Response } from 'express';
import type { ArgumentsHost } from '@nestjs/common';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { measureRequests } from './outcome.js';
import { Problem } from './problem.js';
import { ProblemFilter } from './problem.filter.js';

let server: Server;
let base: string;
let registry: Registry;
let logged: object[];
let hangs: () => void;

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
  app.get('/hangs', () => hangs());
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

const counts = async (): Promise<string[]> => {
  const text = await registry.getSingleMetricAsString('http_requests_total');
  return text.split('\n').filter((line) => line.startsWith('http_requests_total'));
};

it('A request whose caller gave up is counted and timed as 499', async () => {
  const leaving = new AbortController();
  hangs = () => leaving.abort();
  const asked = fetch(`${base}/hangs`, { signal: leaving.signal });
  await expect(asked).rejects.toThrow();
  while ((await counts()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const metric of ['http_requests_total', 'http_request_duration_seconds_count'])
    expect(await registry.metrics()).toContain(`${metric}{route="/hangs",method="GET",status="499"} 1\n`);
});

it('A refusal that a test reading asked for is no 5xx of the service, and no error in its log', async () => {
  for (const path of ['/ok', '/away', '/asked', '/asked']) await (await fetch(`${base}${path}`)).text();
  expect(await counts()).toEqual([
    'http_requests_total{route="/ok",method="GET",status="200"} 1',
    'http_requests_total{route="/away",method="GET",status="503"} 1',
    'http_requests_total{route="/asked",method="GET",status="asked_503"} 2',
  ]);
  expect(logged).toHaveLength(1);
});
