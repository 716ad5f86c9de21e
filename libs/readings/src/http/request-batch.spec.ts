import { expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { LineFull } from '#platform/async/lines.js';
import { Problem } from '#platform/http/problem.js';
import type { RequestBatch } from '../application/request-batch.js';
import { BODY } from '../../test/readings.js';
import { BatchesController } from './request-batch.js';

const CREATE = { name: 'create', perMinute: 120, burst: 40 };
const caller = { workspaceId: 'ws_1', mode: 'live' };

const controllerOf = (
  execute: (command: RequestBatch) => Promise<unknown>,
  { charge = async () => LEFT, isRequested = false }: { charge?: unknown; isRequested?: boolean } = {},
) =>
  new BatchesController(
    { execute } as never,
    { isRequested: async () => isRequested } as never,
    { admitMany: async () => [], withdrawn: () => undefined } as never,
    { charge } as never,
    { create: CREATE } as never,
    { READINGS_IN_FLIGHT: 1_000 },
  );

const anyResponse = () => Object.assign(new EventEmitter(), { set: jest.fn() });
const orderFrom = (
  controller: BatchesController,
  response: unknown = anyResponse(),
  reading: object = BODY,
) =>
  controller.create(
    {
      body: Buffer.from(JSON.stringify({ mode: 'all', readings: [reading, reading, reading] })),
      is: () => false,
    } as never,
    undefined,
    'key-1',
    caller as never,
    requestedBy('apiKey:k', 'req_1'),
    response as never,
  );

/** What the bucket says after each charge. */
const LEFT = { allowed: true, remaining: 37, fullAfterSeconds: 2, retryAfterSeconds: 1 };

it('charges a bulk for all its readings before it checks them, and says in its headers what is left', async () => {
  const charge = jest.fn(async () => LEFT);
  const execute = jest.fn(async () => null);
  const response = anyResponse();
  await expect(orderFrom(controllerOf(execute, { charge }), response, {})).rejects.toMatchObject({
    code: 'validation_failed',
  });
  expect(charge.mock.calls).toEqual([['ws_1', CREATE, 2]]);
  expect(execute).not.toHaveBeenCalled();
  expect(response.set.mock.calls).toEqual([
    [{ 'RateLimit-Policy': '"create";q=120;w=60', RateLimit: '"create";r=37;t=2' }],
  ]);
});

it.each([
  [
    'cannot be answered now, since it is to be repeated at once',
    async () => {
      throw new StoreUnavailable('The batch was not accepted in time', true);
    },
  ],
  ['another request was accepted as', async () => ({ outcome: 'replayed', batchId: 'b', items: [] })],
])('gives back the charge of a bulk that %s', async (_, execute) => {
  const charge = jest.fn(async () => LEFT);
  await orderFrom(controllerOf(execute, { charge })).catch(() => null);
  expect(charge.mock.calls).toEqual([
    ['ws_1', CREATE, 2],
    ['ws_1', CREATE, -2],
  ]);
});

it.each([
  ['was answered before', async () => ({ outcome: 'replayed', batchId: 'b', items: [] })],
  [
    'nobody waits for any more',
    async () => {
      throw new Problem('enqueue_unavailable', { detail: 'The caller has gone' });
    },
  ],
  [
    'finds too many others waiting',
    async () => {
      throw new LineFull();
    },
  ],
])('charges a repeat that %s like any other bulk: its readings are checked again', async (_, execute) => {
  const charge = jest.fn(async () => LEFT);
  await orderFrom(controllerOf(execute, { charge, isRequested: true })).catch(() => null);
  expect(charge.mock.calls).toEqual([['ws_1', CREATE, 2]]);
});

it('charges one request for each 16 KiB of a bulk before it reads it, and its readings beyond them', async () => {
  const charge = jest.fn(async () => LEFT);
  const long = { ...BODY, externalId: 'x'.repeat(8_000) };
  await orderFrom(
    controllerOf(async () => null, { charge }),
    anyResponse(),
    long,
  ).catch(() => null);
  expect(charge.mock.calls).toEqual([
    ['ws_1', CREATE, 1],
    ['ws_1', CREATE, 1],
  ]);
});

it('answers 503 to a bulk that the buckets did not count, before it checks its readings', async () => {
  const charge = jest.fn(async () => {
    throw new Error('away');
  });
  const execute = jest.fn(async () => null);
  await expect(orderFrom(controllerOf(execute, { charge }), anyResponse(), {})).rejects.toMatchObject({
    code: 'enqueue_unavailable',
    options: { headers: { 'Retry-After': '5' } },
  });
  expect(charge).toHaveBeenCalledTimes(1);
  expect(execute).not.toHaveBeenCalled();
});

it('checks the repeats of a workspace one after another, beside those of others', async () => {
  let underWay = 0;
  let most = 0;
  const execute = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return { outcome: 'replayed', batchId: 'b', items: [] };
  };
  const controller = controllerOf(execute, { isRequested: true });
  await Promise.all(Array.from({ length: 8 }, () => orderFrom(controller)));
  expect(most).toBe(1);
});

it('checks no repeat whose caller has left while it waited', async () => {
  const left = anyResponse();
  const execute = jest.fn(async () => {
    left.emit('close');
    return { outcome: 'replayed', batchId: 'b', items: [] };
  });
  const controller = controllerOf(execute, { isRequested: true });
  await Promise.all([orderFrom(controller), orderFrom(controller, left).catch(() => null)]);
  expect(execute).toHaveBeenCalledTimes(1);
});

it('answers 503 to a repeat for which too many others wait', async () => {
  const execute = async () => {
    throw new LineFull();
  };
  await expect(orderFrom(controllerOf(execute, { isRequested: true }))).rejects.toMatchObject({
    code: 'enqueue_unavailable',
    options: { headers: { 'Retry-After': '5' } },
  });
});

it.each([
  [false, true],
  [true, false],
])('tells whether the caller has gone before its answer was sent (sent: %s)', async (isSent, hasGone) => {
  const response = Object.assign(anyResponse(), { writableFinished: isSent });
  let departed: AbortSignal | null = null;
  const execute = async (command: RequestBatch) => {
    ({ departed } = command);
    response.emit('close');
    throw new StoreUnavailable('away', true);
  };
  await expect(orderFrom(controllerOf(execute), response)).rejects.toBeInstanceOf(StoreUnavailable);
  expect(departed).toMatchObject({ aborted: hasGone });
});
