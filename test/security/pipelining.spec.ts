import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTION_LIMITS } from '#platform/http/http-adapter.js';
import { Integrator, person, until } from '../support/integrator.js';
import { rawConnection, requestText } from '../support/raw-connection.js';
import { sharedStack, type Stack } from '../support/index.js';
import { rounds } from '../support/rounds.js';

/** Pipelined requests in one attack. */
const PIPELINED = rounds(3_000, 100_000);
const { waiting: WAITING, perAddress: CONNECTIONS } = CONNECTION_LIMITS;

let stack: Stack;
let customer: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 400);
});

afterAll(async () => {
  await stack?.stop();
});

const open = () => rawConnection(stack.baseUrl);
const ascii = JSON.stringify(person('Anna')).replace('Lefèvre', 'Lefevre');
const health = requestText('GET', '/healthz');

describe('Requests that wait on one connection', () => {
  it('are answered one after the other, in their order', async () => {
    const connection = await open();
    const paths = ['/healthz', '/nothing', '/schemas/result.json', '/api/v1/credits', '/healthz'];
    connection.write(paths.map((path) => requestText('GET', path)).join(''));
    await connection.untilAnswers(paths.length);
    expect(connection.statuses()).toEqual([200, 404, 200, 401, 200]);
    connection.leave();
  });

  it('are capped: a caller who sends thousands without waiting is cut off', async () => {
    const connection = await open();
    connection.write(health.repeat(PIPELINED));
    await Promise.race([connection.closed, connection.untilAnswers(PIPELINED)]);
    expect(connection.isClosed()).toBe(true);
    // The service started only the first and those that may wait.
    expect(connection.statuses().length).toBeLessThanOrEqual(WAITING + 1);
  });

  it('are never started after the caller has left', async () => {
    process.kill(stack.pids().worker, 'SIGSTOP');
    try {
      const waiting = (await customer.create(person())).body;
      const connection = await open();
      const key = { 'x-api-key': customer.apiKey };
      connection.write(
        requestText('GET', `/api/v1/readings/${waiting.readingId}`, { ...key, prefer: 'wait=60' }) +
          requestText('POST', '/api/v1/readings', { ...key, 'content-type': 'application/json' }, ascii),
      );
      await delay(1_000);
      connection.leave();
      await delay(1_000);
      // Only the first reading holds credits, not the waiting one.
      expect((await customer.balance()).held).toBe(20);
    } finally {
      process.kill(stack.pids().worker, 'SIGCONT');
    }
  });
});

describe('The connections of one address', () => {
  it('are capped; existing ones stay usable', async () => {
    const connections = [];
    for (let n = 0; n < CONNECTIONS + 5; n += 1) connections.push(await open());
    for (const connection of connections) connection.write(health);
    await Promise.all(connections.map((connection) => connection.untilAnswers(1)));
    const answered = connections.filter((connection) => connection.statuses()[0] === 200);
    // The test's own calls keep some connections open.
    expect(answered.length).toBeLessThanOrEqual(CONNECTIONS);
    expect(answered.length).toBeGreaterThan(CONNECTIONS / 2);
    for (const connection of connections) connection.leave();
    await until(
      async () => (await fetch(`${stack.baseUrl}/healthz`)).ok,
      () => 'there is room again',
    );
  });
});
