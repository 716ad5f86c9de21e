import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person, until } from '../support/integrator.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';

let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack({ env: RECEIVER_SETTINGS });
  customer = await Integrator.open(stack, 1_000);
  receiver = await startReceiver();
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

const ops = (...args: string[]) => stack.runOps(['webhooks', ...args]);
const createEndpoint = async (): Promise<string> => {
  const { body } = await customer.call<{ endpointId: string; signingSecret: string }>(
    'POST',
    '/api/v1/webhooks',
    {
      body: { url: receiver.url },
    },
  );
  receiver.secret = body.signingSecret;
  return body.endpointId;
};
/** The feed, as receivers get it, has both events of the reading: a new endpoint is not sent them. */
const publish = async (): Promise<string> => {
  const { readingId } = (await customer.create(person())).body;
  await until(
    async () => {
      const { body } = await customer.call<{ data: { readingId: string; type: string }[] }>('GET', FEED);
      return body.data.some((event) => event.readingId === readingId && event.type === 'reading.published');
    },
    () => `reading ${readingId} is in the feed`,
  );
  return readingId;
};
const FEED = '/api/v1/events?limit=100';
const SINCE = '2026-01-01';

describe('an operator', () => {
  it('counts what an endpoint missed, enables it, and replays: same ids, same bytes, in order', async () => {
    const before = [await publish(), await publish()];
    const endpointId = await createEndpoint();
    await customer.call('PATCH', `/api/v1/webhooks/${endpointId}`, { body: { enabled: false } });
    const during = await publish();
    await until(
      async () =>
        (JSON.parse((await ops('list', '--json')).stdout) as { endpoints: unknown[] }).endpoints.length === 1,
      () => 'the endpoint is listed',
    );

    const of = ['--endpoint', endpointId, '--since', SINCE];
    const counted = await ops('replay', ...of);
    expect(counted).toMatchObject({ code: 0, stderr: '' });
    expect(counted.stdout).toMatch(/^6 events would be sent: add --yes/);
    expect(receiver.received).toEqual([]);

    const refused = await ops('replay', ...of, '--yes', '--json');
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The endpoint is disabled: enable it first.\n',
    });
    expect((await ops('list', '--state', 'disabled')).stdout).toContain(endpointId);
    expect(JSON.parse((await ops('health', '--json')).stdout)).toMatchObject({
      endpoints: { ok: 0, failing: 0, disabled: 1 },
      troubled: [{ endpoint: { endpointId } }],
    });
    expect((await ops('enable', '--endpoint', endpointId)).stdout).toMatch(
      /^Enabled; 2 deliveries were skipped/,
    );

    const sent = await ops('replay', ...of, '--yes', '--json');
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(sent.stdout)).toMatchObject({ dryRun: false, state: 'finished', events: 6 });
    await until(
      () => receiver.received.length === 6,
      () => `${receiver.received.length} of 6 arrived`,
    );
    // An outcome is recorded after the receiver has answered.
    await until(
      async () => (await ops('health')).stdout.includes('6 succeeded'),
      () => 'six outcomes are recorded',
    );
    const { body: feed } = await customer.call<{ data: { id: string }[] }>('GET', FEED);
    const byId = new Map(feed.data.map((event) => [event.id, JSON.stringify(event)]));
    for (const { event, rawBody, verified } of receiver.received) {
      expect(verified).toBe(true);
      expect(rawBody.toString('utf8')).toBe(byId.get(event.id));
    }
    for (const readingId of [...before, during]) {
      expect(
        receiver.received
          .filter(({ event }) => event.readingId === readingId)
          .map(({ event }) => event.sequence),
      ).toEqual([1, 2]);
    }
    const { deliveries } = (await stack.ops(['events', '--reading', during])) as {
      deliveries: { eventType: string; endpointId: string; status: string; attempts: number }[];
    };
    expect(
      deliveries.map(({ eventType, status, attempts }) => [eventType, status, attempts]).toSorted(),
    ).toEqual(
      ['reading.completed', 'reading.published'].flatMap((type) => [
        [type, 'skipped', 0],
        [type, 'succeeded', 1],
      ]),
    );
    expect(new Set(deliveries.map((delivery) => delivery.endpointId))).toEqual(new Set([endpointId]));
    expect((await ops('replay', ...of, '--statuses', 'succeeded')).stdout).toMatch(/^6 events/);
    const stats = await ops('stats', '--endpoint', endpointId, '--json');
    expect(JSON.parse(stats.stdout)).toMatchObject({
      state: 'ok',
      verification: null,
      total: { attempts: { succeeded: 6 } },
    });
    expect((await ops('stats', '--endpoint', endpointId)).stdout).toMatch(/^total +6 +0 /m);
  });

  it('gets one line that says what is wrong, with exit code 1', async () => {
    for (const [args, message] of [
      [['enable', '--endpoint', 'we_nobody'], /^There is no webhook endpoint we_nobody/],
      [['replay', '--endpoint', 'we_nobody', '--since', SINCE], /^There is no webhook endpoint we_nobody/],
      [['health', '--endpoint', 'we_nobody'], /^There is no webhook endpoint we_nobody/],
      [['stats', '--endpoint', 'we_nobody'], /^There is no webhook endpoint we_nobody/],
      [['stats', '--endpoint', 'we_1', '--hours', '841'], /must be a whole number from 1 to 840/],
      [['list', '--workspace', 'ws_nobody'], /^There is no workspace ws_nobody/],
      [['list', '--state', 'sad'], /ok, failing, disabled, unverified/],
      [['replay', '--endpoint', 'we_1', '--since', 'soon'], /RFC 3339/],
      [
        ['replay', '--endpoint', 'we_1', '--since', SINCE, '--statuses', 'pending'],
        /must be one or more of missing/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await ops(...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr.trim()).toMatch(message);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  });

  it('finds an example for every command', async () => {
    for (const command of ['list', 'health', 'stats', 'replay', 'enable']) {
      expect((await ops(command, '--help')).stdout).toMatch(/Examples?:\n {2}ops webhooks/);
    }
  });
});
