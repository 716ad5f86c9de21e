import { expect, it, jest } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { setStanding } from '#platform/auth/authentication.js';
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
    { admit: async () => [], ended: () => undefined } as never,
    { charge } as never,
    { create: CREATE } as never,
    { READINGS_IN_FLIGHT: 1_000 },
  );

const anyResponse = () => ({ set: jest.fn() });
const orderFrom = (
  controller: BatchesController,
  response: unknown = anyResponse(),
  reading: object = BODY,
  stands: () => Promise<void> = async () => undefined,
) => {
  const request = {
    body: Buffer.from(JSON.stringify({ mode: 'all', readings: [reading, reading, reading] })),
    is: () => false,
  } as never;
  setStanding(request, stands);
  return controller.create(
    request,
    undefined,
    'key-1',
    caller as never,
    requestedBy('apiKey:k', 'req_1'),
    response as never,
  );
};

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

it('answers no repeat whose key ended while it waited for those before it', async () => {
  let stands = true;
  let release!: () => void;
  const first = new Promise<void>((resolve) => (release = resolve));
  const execute = jest.fn(async () => {
    await first;
    return { outcome: 'replayed', batchId: 'b', items: [] };
  });
  const controller = controllerOf(execute, { isRequested: true });
  const verify = async () => {
    if (!stands) throw new Problem('unauthenticated');
  };
  const [answered, waiting] = [0, 1].map(() => orderFrom(controller, anyResponse(), BODY, verify));
  await new Promise((resolve) => setTimeout(resolve, 50));
  stands = false;
  release();
  await answered;
  await expect(waiting).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(execute).toHaveBeenCalledTimes(1);
});

it('checks the repeats of a workspace one after another, and answers 503 when too many wait', async () => {
  let [underWay, most] = [0, 0];
  const execute = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return { outcome: 'replayed', batchId: 'b', items: [] };
  };
  const controller = controllerOf(execute, { isRequested: true });
  const asked = await Promise.allSettled(Array.from({ length: 101 }, () => orderFrom(controller)));
  const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as object] : []));
  expect(most).toBe(1);
  expect(refused).toMatchObject([
    { code: 'enqueue_unavailable', options: { headers: { 'Retry-After': '5' } } },
  ]);
});
