import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { url } from '../../../test/api.js';
import { reading, released } from '../../../test/events.js';
import { webhookRequests } from '../../../test/webhook-requests.js';

const test = webhookRequests();

describe('PATCH /api/v1/webhooks/{endpointId}', () => {
  it('changes only the given members', async () => {
    const { endpointId, signingSecret, ...before } = await test.created({ url, description: 'one' });
    const response = await test
      .patch(endpointId, { events: ['reading.failed'], description: null })
      .expect(200);
    expect(response.body).toEqual({
      ...before,
      endpointId,
      events: ['reading.failed'],
      description: null,
      updatedAt: expect.any(String),
    });
    expect((await test.get(`/${endpointId}`)).body).toEqual(response.body);
    expect(JSON.stringify(response.body)).not.toContain(signingSecret);
  });

  it('does nothing for an empty patch', async () => {
    const { endpointId } = await test.created();
    const events = test.api.store.log.length;
    await test.patch(endpointId, {}).expect(200);
    expect(test.api.store.log).toHaveLength(events);
  });

  it('accepts application/merge-patch+json', async () => {
    const { endpointId } = await test.created();
    await test
      .patch(endpointId, { description: 'merged' })
      .set('content-type', 'application/merge-patch+json')
      .expect(200);
  });

  it.each([
    [{ signingSecret: 'whsec_mine' }, 'validation_failed'],
    [{ workspaceId: 'ws_other' }, 'validation_failed'],
    [{ url: null }, 'invalid_webhook_url'],
    [{ url: 'https://127.0.0.1/' }, 'webhook_url_blocked'],
    [{ events: [] }, 'validation_failed'],
    [{ events: null }, 'validation_failed'],
    [{ enabled: 'no' }, 'validation_failed'],
    [{ enabled: null }, 'validation_failed'],
  ])('refuses %j', async (body, code) => {
    const { endpointId } = await test.created();
    expect((await test.patch(endpointId, body).expect(400)).body).toMatchObject({ code });
  });

  it('disables and enables, and counts the deliveries skipped in between', async () => {
    const { endpointId } = await test.created();
    expect((await test.patch(endpointId, { enabled: false }).expect(200)).body).toMatchObject({
      enabled: false,
      health: { state: 'disabled', disabledReason: 'requested' },
    });
    await test.happen(reading(randomUUID()).completed({ at: Date.now() }));
    expect((await test.patch(endpointId, { enabled: true }).expect(200)).body).toMatchObject({
      enabled: true,
      health: { state: 'ok', disabledReason: null },
      skippedDeliveries: 1,
    });
  });

  it('counts a failure announced while disabled although it happened before, but no test event', async () => {
    const { endpointId } = await test.created();
    const failed = reading(randomUUID()).failed({ at: Date.now() - 1_000 });
    await test.happen(failed);
    await test.patch(endpointId, { enabled: false }).expect(200);
    await test.happen(released(failed, { at: Date.now() }));
    await test.post(`/${endpointId}/test`, {}).expect(202);
    expect((await test.patch(endpointId, { enabled: true }).expect(200)).body).toMatchObject({
      skippedDeliveries: 1,
    });
  });

  it('resets the failures of an endpoint that moves to another URL', async () => {
    const { endpointId } = await test.created();
    await test.database.pool.query('insert into webhooks.endpoint_health values ($1, 12, now(), now())', [
      endpointId,
    ]);
    expect((await test.get(`/${endpointId}`)).body).toMatchObject({ health: { state: 'failing' } });
    const well = { health: { state: 'ok', consecutiveFailures: 0, failingSince: null } };
    expect((await test.patch(endpointId, { url: `${url}/moved` }).expect(200)).body).toMatchObject(well);
    expect((await test.get(`/${endpointId}`)).body).toMatchObject(well);
  });

  it('changes only the revision that the caller has seen, with If-Match', async () => {
    const { endpointId } = await test.created();
    const { headers } = await test.get(`/${endpointId}`);
    await test.patch(endpointId, { description: 'mine' }).set('if-match', headers['etag']!).expect(200);
    const late = await test
      .patch(endpointId, { description: 'late' })
      .set('if-match', headers['etag']!)
      .expect(412);
    expect(late.body).toMatchObject({ code: 'precondition_failed' });
    await test.patch(endpointId, { description: 'any' }).set('if-match', '*').expect(200);
    await test.patch(endpointId, { description: 'weak' }).set('if-match', 'W/"2"').expect(412);
    await test.patch(endpointId, { description: 'compressed' }).set('if-match', '"0", "2-gzip"').expect(200);
  });
});
