import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { reading } from '../../../test/events.js';
import { status } from '../../../test/receiver.js';
import { deliveringRequests } from '../../../test/webhook-requests.js';

const test = deliveringRequests();

const health = () => test.get(`/${test.endpointId}/health`).expect(200);

describe('GET …/health', () => {
  it('shows the state, the queue, and how attempts ended', async () => {
    expect((await health()).body).toEqual({
      state: 'ok',
      failingSince: null,
      disabledReason: null,
      consecutiveFailures: 0,
      pending: 0,
      queueAgeSeconds: 0,
      nextAttemptAt: null,
      lastSuccessAt: null,
      attempts: {},
    });
    test.receiver.answer = (response, received, index) =>
      status(index === 0 ? 200 : 500)(response, received, index);
    await test.happen(reading(randomUUID()).completed());
    await test.settled();
    await test.happen(reading(randomUUID()).completed());
    await test.settled();
    expect((await health()).body).toMatchObject({
      state: 'failing',
      consecutiveFailures: 2,
      lastSuccessAt: expect.stringMatching(/Z$/),
      attempts: { succeeded: 1, http_error: 2 },
    });
    await test.sending.stop();
    await test.happen(reading(randomUUID()).completed({ at: Date.now() - 60_000 }));
    const { body } = await health();
    expect(body).toMatchObject({ pending: 1, nextAttemptAt: expect.stringMatching(/Z$/) });
    expect((body as { queueAgeSeconds: number }).queueAgeSeconds).toBeGreaterThanOrEqual(60);
  });
});
