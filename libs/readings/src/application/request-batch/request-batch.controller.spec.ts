import { expect, it, jest } from '@jest/globals';
import { requestedBy } from '@app/event-sourcing/core/request-context.js';
import { StoreUnavailable } from '@app/event-sourcing/store/errors.js';
import { RequestBatchController } from './request-batch.controller.js';

const READING = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  name: { firstNames: ['Anna'], middleNames: [], lastNames: ['Laurent'] },
  dateOfBirth: '1990-06-15',
  grammaticalProfile: { subjectGender: 'feminine' },
};
const CREATE = { name: 'create' };

it('charges a bulk once, when it is answered: a 503 is repeated at once', async () => {
  const charge = jest.fn(async () => undefined);
  let isAway = true;
  const execute = async () => {
    if (isAway) throw new StoreUnavailable('The batch was not accepted in time', true);
    return { outcome: 'insufficient_credits', required: 60, available: 0 };
  };
  const inFlight = { admitMany: async () => [], withdrawn: () => undefined };
  const controller = new RequestBatchController(
    { execute } as never,
    { isRequested: async () => false } as never,
    inFlight as never,
    { charge } as never,
    { create: CREATE } as never,
    { READINGS_IN_FLIGHT: 1_000 },
  );
  const request = { body: { mode: 'all', readings: [READING, READING, READING] } };
  const caller = { workspaceId: 'ws_1', mode: 'live' };
  const order = () =>
    controller.create(
      request as never,
      undefined,
      'key-1',
      caller as never,
      requestedBy('apiKey:k', 'req_1'),
      {} as never,
    );
  await expect(order()).rejects.toBeInstanceOf(StoreUnavailable);
  expect(charge).not.toHaveBeenCalled();
  isAway = false;
  await expect(order()).rejects.toMatchObject({ code: 'insufficient_credits' });
  expect(charge.mock.calls).toEqual([['ws_1', CREATE, 2]]);
});
