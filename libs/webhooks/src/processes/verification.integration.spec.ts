import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { dispatching } from '../../test/dispatching.js';
import { reading } from '../../test/events.js';
import { Receiver, eventually, status } from '../../test/receiver.js';
import type { TestService } from '../../test/service.js';
import { resolveHost, openSender } from './dispatch/sender.js';
import { FindVerification } from '../contracts/index.js';
import { FindVerificationHandler, probeDue, verifyEndpoints } from './verification.js';
import type { WebhookEndpointCommand } from '../domain/webhook-endpoint.decider.js';
import { serviceSignature } from '../domain/signed-headers.js';

const test = dispatching();
let now: number;
beforeEach(() => {
  now = Date.now();
  const settings = { WEBHOOK_VERIFY_ENDPOINTS: '1', WEBHOOK_RETRY_SCHEDULE_MS: '0,50,50' };
  test.start({ settings, clock: { now: () => now } });
});

const partsOf = (settings: Partial<TestService['config']> = {}) => {
  const { clock, vault, headers, streams } = test.service;
  const config = { ...test.service.config, ...settings };
  const log = { info: () => undefined, warn: () => undefined };
  const open = () => openSender({ config, resolve: resolveHost, clock, log });
  return { pool: test.database.pool, clock, config, vault, headers, streams, openSender: open, log };
};
/** One round of probes, by this many workers at once. */
const probe = async (workers = 1, settings: Partial<TestService['config']> = {}): Promise<void> => {
  const parts = partsOf(settings);
  await Promise.all(Array.from({ length: workers }, () => probeDue(parts, parts.openSender())));
};
const state = async (endpointId: string) => (await test.service.rows.find(endpointId))?.record.health.state;
const arrives = (type: string) =>
  test.receiver.received.filter(({ headers }) => headers['x-service-event'] === type);
const probes = () =>
  test.receiver.received.filter(({ headers }) => headers['x-service-notice'] === 'endpoint.verification');

describe('With WEBHOOK_VERIFY_ENDPOINTS, an endpoint on a new host', () => {
  it('gets its events only after it answered a signed probe with 2xx', async () => {
    const { endpointId, signingSecret, health } = await test.service.create(test.receiver.url);
    expect(health.state).toBe('unverified');
    await eventually(async () => (await state(endpointId)) === 'unverified');
    await test.service.happen(reading(randomUUID()).completed({ at: now }));
    await eventually(async () => (await test.service.deliveries()).length === 1);
    await test.service.idle();
    expect(test.receiver.received).toEqual([]);
    await probe();
    const [asked] = probes();
    expect(JSON.parse(asked!.body.toString())).toMatchObject({ type: 'endpoint.verification', endpointId });
    expect(asked!.headers['x-service-signature']).toBe(
      serviceSignature([signingSecret], Number(asked!.headers['x-service-timestamp']), asked!.body),
    );
    await eventually(() => {
      // By a clock that stands still, a queue that a slow worker gave back unsent would rest for ever.
      now += 10;
      return arrives('reading.completed').length === 1;
    });
    expect(await state(endpointId)).toBe('ok');
    await probe();
    expect(probes()).toHaveLength(1);
  });

  it('is probed again with the same bytes, after a minute at least, and is disabled in the end', async () => {
    test.receiver.answer = status(404);
    const { endpointId } = await test.service.create(test.receiver.url);
    await eventually(async () => (await state(endpointId)) === 'unverified');
    await probe();
    await probe();
    expect(probes()).toHaveLength(1);
    const verification = new FindVerificationHandler(test.database.pool);
    expect(await verification.execute(new FindVerification(endpointId))).toEqual({
      askedAt: expect.any(String),
      attempts: 1,
      nextProbeAt: expect.any(String),
      lastError: 'http_error',
    });
    expect(await verification.execute(new FindVerification('we_nobody'))).toBeNull();
    now += 60_000;
    await probe();
    now += 60_000;
    await probe();
    const [first, second, third] = probes().map(({ body }) => body.toString());
    expect([second, third]).toEqual([first, first]);
    await eventually(async () => (await state(endpointId)) === 'disabled');
    now += 600_000;
    await probe();
    expect(probes()).toHaveLength(3);
  });

  it('is not probed again while a receiver takes as long as an attempt may', async () => {
    test.receiver.answer = () => undefined;
    const { endpointId } = await test.service.create(test.receiver.url);
    await eventually(async () => (await state(endpointId)) === 'unverified');
    const settings = { WEBHOOK_ATTEMPT_TIMEOUT_MS: 120_000 };
    const first = probe(1, settings);
    await eventually(() => probes().length === 1);
    now += 119_000;
    test.receiver.answer = status(204);
    await probe(1, settings);
    expect(probes()).toHaveLength(1);
    now += 11_000;
    await probe(1, settings);
    expect(probes()).toHaveLength(2);
    await test.receiver.stop();
    await first;
    test.receiver = await Receiver.start();
  });

  it('is probed while hosts of other workspaces say nothing', async () => {
    const silent = await Receiver.start(() => undefined);
    const elsewhere = await test.service.create(silent.url, { workspaceId: 'ws_2' });
    await eventually(async () => (await state(elsewhere.endpointId)) === 'unverified');
    const stop = new AbortController();
    const loop = verifyEndpoints(partsOf({ WEBHOOK_ATTEMPT_TIMEOUT_MS: 120_000 })).run(stop.signal);
    await eventually(() => silent.open === 1);
    const { endpointId } = await test.service.create(test.receiver.url);
    await eventually(async () => (await state(endpointId)) === 'ok');
    expect(silent.open).toBe(1);
    stop.abort();
    await loop;
    await silent.stop();
  });

  it('is not disabled by a proxy of ours that is down', async () => {
    const { endpointId } = await test.service.create(test.receiver.url);
    await eventually(async () => (await state(endpointId)) === 'unverified');
    for (let round = 0; round < 5; round += 1) {
      await probe(1, { WEBHOOK_PROXY_URL: 'http://127.0.0.1:1' });
      now += 60_000;
    }
    const { rows } = await test.database.pool.query('select attempts, last_error from webhooks.verification');
    expect(rows).toEqual([{ attempts: 0, last_error: 'proxy_failed' }]);
    await probe();
    expect(probes()[0]!.headers).toMatchObject({ 'x-service-attempt': '1' });
    await eventually(async () => (await state(endpointId)) === 'ok');
  });

  it('is probed once a minute for its host, whether deleted and made again, moved, or one of several', async () => {
    test.receiver.answer = status(500);
    const waits = async (endpointId: string) =>
      eventually(async () => (await state(endpointId)) === 'unverified');
    const first = await test.service.create(test.receiver.url);
    await waits(first.endpointId);
    await probe();
    await test.service.delete(first.endpointId);
    const second = await test.service.create(`${test.receiver.url}/old`);
    const moved: WebhookEndpointCommand = {
      type: 'ChangeEndpoint',
      sees: ['live'],
      changes: { url: `${test.receiver.url}/2`, verified: false },
      ifRevision: null,
    };
    await test.service.streams.execute(second.endpointId, moved, {
      by: requestedBy('apiKey:test', 'req_moved'),
      workspaceId: 'ws_1',
    });
    await eventually(
      async () => (await test.service.rows.find(second.endpointId))?.record.url === `${test.receiver.url}/2`,
    );
    now += 1;
    const third = await test.service.create(
      `${test.receiver.url.replace('//127.0.0.1', '///0x7f000001.')}/3`,
    );
    await waits(second.endpointId);
    await waits(third.endpointId);
    now += 59_998;
    await probe(4);
    expect(probes().map(({ path }) => path)).toEqual(['/hook']);
    const verification = new FindVerificationHandler(test.database.pool);
    expect(await verification.execute(new FindVerification(third.endpointId))).toMatchObject({
      attempts: 0,
      nextProbeAt: new Date(now + 1).toISOString(),
    });
    now += 1;
    await probe(4);
    expect(probes().map(({ path }) => path)).toEqual(['/hook', '/hook/2']);
    now += 60_000;
    await probe(4);
    expect(probes().map(({ path }) => path)).toEqual(['/hook', '/hook/2', '/hook/3']);
  });

  it('needs no probe while the workspace sends to the host; another workspace does', async () => {
    const { endpointId } = await test.service.create(test.receiver.url);
    await eventually(async () => (await state(endpointId)) === 'unverified');
    now += 1;
    const second = await test.service.create(`${test.receiver.url}/2`);
    expect(second.health.state).toBe('unverified');
    await eventually(async () => (await state(second.endpointId)) === 'unverified');
    await probe();
    await eventually(async () => (await state(endpointId)) === 'ok');
    await probe();
    await eventually(async () => (await state(second.endpointId)) === 'ok');
    const third = await test.service.create(`${test.receiver.url}/3`);
    expect(third.health.state).toBe('ok');
    expect((await test.service.create(test.receiver.url, { workspaceId: 'ws_2' })).health.state).toBe(
      'unverified',
    );
    // What was deleted says nothing, however much it is.
    for (const { endpointId: id } of [{ endpointId }, second, third]) {
      await test.service.delete(id);
      await eventually(async () => (await test.service.rows.find(id))?.deleted === true);
    }
    expect((await test.service.create(test.receiver.url)).health.state).toBe('unverified');
  });
});
