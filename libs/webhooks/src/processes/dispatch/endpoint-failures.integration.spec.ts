import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { reading } from '../../../test/events.js';
import { Receiver, eventually, ok, status } from '../../../test/receiver.js';

const test = dispatching();
const found = async (text: string): Promise<boolean> => (await test.database.pool.query(text)).rowCount === 1;

describe('The dispatcher', () => {
  it('disables an endpoint that answers 410, and sends it nothing more', async () => {
    // The fan-out has time to follow before the next attempt is due.
    test.start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,600000' } });
    test.receiver.answer = status(410);
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await test.service.rows.find(endpointId))?.record.enabled === false);
    expect((await test.service.rows.find(endpointId))!.record.health).toMatchObject({
      state: 'disabled',
      disabledReason: 'gone',
    });
    expect(test.service.store.log.at(-1)).toMatchObject({
      type: 'WebhookEndpointDisabled',
      metadata: { actor: 'system:webhooks.dispatcher', workspaceId: 'ws_1' },
    });
    await test.service.happen(reading(randomUUID()).completed());
    await test.settled(2);
    expect((await test.service.deliveries()).map(({ status: is }) => is)).toEqual(['skipped', 'skipped']);
    expect(test.receiver.received).toHaveLength(1);
  });

  it('does not disable an endpoint that moved while its old URL answered 410', async () => {
    test.start();
    const moved = await Receiver.start();
    const answers: (() => void)[] = [];
    test.receiver.answer = (response) => void answers.push(() => response.writeHead(410).end());
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(() => answers.length === 1);
    const context = { workspaceId: 'ws_1', by: requestedBy('apiKey:test', 'req_move') };
    const changes = { url: moved.url, verified: true };
    await test.service.streams.execute(
      endpointId,
      { type: 'ChangeEndpoint', changes, ifRevision: null },
      context,
    );
    await eventually(async () => (await test.service.rows.find(endpointId))?.record.url === moved.url);
    // A worker that knows the old URL reads the new one within a second.
    await delay(1_500);
    for (const answer of answers) answer();
    await test.settled(1);
    expect(moved.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
    expect(await test.service.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
    expect((await test.service.rows.find(endpointId))!.record.enabled).toBe(true);
    await moved.stop();
  });

  it('only probes an endpoint after ten failures in a row, and disables it after 120 hours without a success', async () => {
    const startedAt = performance.now();
    // It goes on: a worker that waits long for the processor loses its lease, and takes another when that has ended.
    const now = (): number => clock.at + Math.floor(performance.now() - startedAt);
    const clock = { at: Date.parse('2026-04-04T10:00:00Z'), now };
    test.start({ clock, settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000,3600000' } });
    test.receiver.answer = status(500);
    const { endpointId } = await test.service.create(test.receiver.url);
    for (let n = 0; n < 10; n += 1)
      await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
    const failures = async () =>
      (await test.service.rows.find(endpointId))!.record.health.consecutiveFailures;
    await eventually(async () => (await failures()) === 10);
    const later = randomUUID();
    await test.service.happen(reading(later).completed({ at: clock.at }));
    const probes = () => test.receiver.received.filter(({ body }) => body.includes(later)).length;
    await eventually(async () => (await test.service.deliveries()).length === 11);
    // The worker has looked at it, and gives up the workspace until the probe is due.
    await eventually(() => found('select from webhooks.workspace_lease where lease is null'));
    expect(probes()).toBe(0);
    clock.at += 300_000;
    await eventually(() => probes() === 1);
    await eventually(async () => (await failures()) === 11);
    clock.at += 120 * 3_600_000;
    await eventually(async () => (await test.service.rows.find(endpointId))?.record.enabled === false);
    expect(test.receiver.received).toHaveLength(12);
    expect((await test.service.rows.find(endpointId))!.record.health.disabledReason).toBe('failing');
  });

  it('resets failures at the first success', async () => {
    test.start();
    let recover = (): void => undefined;
    test.receiver.answer = (response, received, index) => {
      if (index < 3) status(500)(response, received, index);
      else recover = () => ok(response, received, index);
    };
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(
      async () => (await test.service.rows.find(endpointId))!.record.health.state === 'failing',
    );
    await eventually(() => test.receiver.received.length === 4);
    recover();
    await test.settled(1);
    expect((await test.service.rows.find(endpointId))!.record.health).toEqual({
      state: 'ok',
      failingSince: null,
      disabledReason: null,
      consecutiveFailures: 0,
    });
  });
});
