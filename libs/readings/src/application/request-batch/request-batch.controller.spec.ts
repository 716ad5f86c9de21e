import { expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { requestedBy } from '@app/event-sourcing/core/request-context.js';
import { StoreUnavailable } from '@app/event-sourcing/store/errors.js';
import { LineFull } from '@app/platform/async/line.js';
import type { RequestBatch } from './request-batch.command.js';
import { RequestBatchController } from './request-batch.controller.js';

const READING = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  name: { firstNames: ['Anna'], middleNames: [], lastNames: ['Laurent'] },
  dateOfBirth: '1990-06-15',
  grammaticalProfile: { subjectGender: 'feminine' },
};
const CREATE = { name: 'create', perMinute: 120, burst: 40 };
const caller = { workspaceId: 'ws_1', mode: 'live' };

const controllerOf = (
  execute: (command: RequestBatch) => Promise<unknown>,
  { charge = async () => null, isRequested = false }: { charge?: unknown; isRequested?: boolean } = {},
) =>
  new RequestBatchController(
    { execute } as never,
    { isRequested: async () => isRequested } as never,
    { admitMany: async () => [], withdrawn: () => undefined } as never,
    { charge } as never,
    { create: CREATE } as never,
    { READINGS_IN_FLIGHT: 1_000 },
  );

const orderFrom = (controller: RequestBatchController, response: unknown = new EventEmitter()) =>
  controller.create(
    { body: { mode: 'all', readings: [READING, READING, READING] } } as never,
    undefined,
    'key-1',
    caller as never,
    requestedBy('apiKey:k', 'req_1'),
    response as never,
  );

it('charges a bulk once, when it is answered: a 503 is repeated at once', async () => {
  const charge = jest.fn(async () => null);
  let isAway = true;
  const execute = async () => {
    if (isAway) throw new StoreUnavailable('The batch was not accepted in time', true);
    return { outcome: 'insufficient_credits', required: 60, available: 0 };
  };
  const controller = controllerOf(execute, { charge });
  const order = () => orderFrom(controller);
  await expect(order()).rejects.toBeInstanceOf(StoreUnavailable);
  expect(charge).not.toHaveBeenCalled();
  isAway = false;
  await expect(order()).rejects.toMatchObject({ code: 'insufficient_credits' });
  expect(charge.mock.calls).toEqual([['ws_1', CREATE, 2]]);
});

it('says in its headers what its charge has left', async () => {
  const response = Object.assign(new EventEmitter(), { set: jest.fn() });
  const charge = async () => ({ allowed: true, remaining: 37, fullAfterSeconds: 2, retryAfterSeconds: 1 });
  const execute = async () => ({ outcome: 'accepted', batchId: 'b', items: [] });
  await orderFrom(controllerOf(execute, { charge }), response);
  expect(response.set.mock.calls).toContainEqual([
    { 'RateLimit-Policy': '"create";q=120;w=60', RateLimit: '"create";r=37;t=2' },
  ]);
});

it('does not charge a bulk that another request at the same moment was accepted as', async () => {
  const response = Object.assign(new EventEmitter(), { set: jest.fn() });
  const charge = jest.fn(async () => null);
  const execute = async () => ({ outcome: 'replayed', batchId: 'b', items: [] });
  await orderFrom(controllerOf(execute, { charge }), response);
  expect(charge).not.toHaveBeenCalled();
  expect(response.set.mock.calls).toContainEqual(['Idempotency-Replayed', 'true']);
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
  const response = Object.assign(new EventEmitter(), { writableFinished: isSent });
  let departed: AbortSignal | null = null;
  const execute = async (command: RequestBatch) => {
    ({ departed } = command);
    response.emit('close');
    throw new StoreUnavailable('away', true);
  };
  await expect(orderFrom(controllerOf(execute), response)).rejects.toBeInstanceOf(StoreUnavailable);
  expect(departed).toMatchObject({ aborted: hasGone });
});
