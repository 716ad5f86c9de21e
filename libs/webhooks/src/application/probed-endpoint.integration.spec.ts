import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { reading } from '../../test/events.js';
import { eventually } from '../../test/receiver.js';
import { deliveringRequests } from '../../test/webhook-requests.js';

const test = deliveringRequests();

/** The endpoint has failed often, and its next probe is due in an hour. */
const failsOften = async () => {
  const { pool } = test.database;
  await pool.query(
    `insert into webhooks.endpoint_health values ($1, 12, now(), now() + interval '1 hour')
     on conflict (endpoint_id) do update set consecutive_failures = 12, probe_at = excluded.probe_at`,
    [test.endpointId],
  );
  // A worker that has the workspace reads it only later.
  await eventually(
    async () =>
      (await pool.query('select from webhooks.workspace_lease where lease is not null')).rowCount === 0,
  );
};
const received = () => test.receiver.received.length;

describe('An endpoint that keeps failing', () => {
  it('is tried at once for a trial, and gets what waited when it works again', async () => {
    await failsOften();
    await test.happen(reading(randomUUID()).completed({ at: Date.now() }));
    await test.sending.idle();
    expect(received()).toBe(0);
    await test.post(`/${test.endpointId}/test`, {}).expect(202);
    await eventually(() => received() === 2);
    // The second may be sent while the success of the first is recorded.
    await test.settled();
    expect((await test.get(`/${test.endpointId}`)).body).toMatchObject({ health: { state: 'ok' } });
  });

  it('is tried at once for a redelivery, also for one that waits', async () => {
    await test.happen(reading(randomUUID()).completed({ at: Date.now() }));
    await test.settled();
    const { body } = await test.get(`/${test.endpointId}/deliveries`).expect(200);
    const [{ deliveryId }] = (body as { data: [{ deliveryId: string }] }).data;
    const redeliver = () => test.post(`/${test.endpointId}/deliveries/${deliveryId}/redeliver`).expect(202);
    await failsOften();
    await redeliver();
    await eventually(() => received() === 2);
  });

  it('gets one attempt for each request, not all that wait', async () => {
    test.receiver.answer = (response) => response.writeHead(500).end();
    await failsOften();
    await test.happen(...[1, 2, 3].map(() => reading(randomUUID()).completed({ at: Date.now() })));
    await test.post(`/${test.endpointId}/test`, {}).expect(202);
    await eventually(() => received() === 1);
    await test.sending.idle();
    expect(received()).toBe(1);
  });
});
