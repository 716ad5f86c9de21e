import { expect, it } from '@jest/globals';
import { fixture, sharedStack, startReceiver } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';

interface Page {
  readonly data: readonly { readonly id: string; readonly type: string; readonly readingId: string }[];
}

const stack = fixture(sharedStack);
const receiver = fixture(startReceiver);
const feedOf = async (customer: Integrator) =>
  (await customer.call<Page>('GET', '/api/v1/events?limit=100')).body;

it('An operator counts what an endpoint missed, enables it, and replays: same ids, same bytes, in order', async () => {
  const customer = await Integrator.open(stack, 1_000);
  const ops = (command: string, ...args: string[]) => stack.runOps(['webhooks', command, ...args]);
  const report = (command: string, ...args: string[]) => stack.report(['webhooks', command, ...args]);
  /** The feed, as receivers get it, has both events of the reading: a new endpoint is not sent them. */
  const publish = async (): Promise<string> => {
    const readingId = await customer.published();
    const told = async () => (await feedOf(customer)).data.filter((event) => event.readingId === readingId);
    await until(async () => (await told()).length === 2, `reading ${readingId} is in the feed`);
    return readingId;
  };
  const before = await publish();
  const endpointId = await customer.endpoint(receiver);
  const of = ['--endpoint', endpointId];
  await customer.call('PATCH', `/api/v1/webhooks/${endpointId}`, { body: { enabled: false } });
  const during = await publish();
  const disabled = async () =>
    (await ops('list', '--workspace', customer.workspaceId, '--state', 'disabled')).stdout;
  await until(async () => (await disabled()).includes(endpointId), 'the endpoint is listed');

  const replay = [...of, '--since', '2026-01-01'];
  const counted = await ops('replay', ...replay);
  expect(counted).toMatchObject({ code: 0, stderr: '' });
  expect(counted.stdout).toMatch(/^4 events would be sent: add --yes/);
  expect(receiver.received).toEqual([]);
  expect(await ops('replay', ...replay, '--yes', '--json')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'The endpoint is disabled: enable it first.\n',
  });
  expect(await report('health', ...of)).toMatchObject({
    endpoints: { ok: 0, failing: 0, disabled: 1 },
    troubled: [{ endpoint: { endpointId } }],
  });
  expect((await ops('enable', ...of)).stdout).toMatch(/^Enabled; 2 deliveries were skipped/);

  const sent = { code: 0, dryRun: false, state: 'finished', events: 4 };
  expect(await report('replay', ...replay, '--yes')).toMatchObject(sent);
  await until(
    () => receiver.received.length === 4,
    () => `${receiver.received.length} of 4 arrived`,
  );
  // An outcome is recorded after the receiver has answered.
  const health = async () => (await ops('health', ...of)).stdout;
  await until(async () => (await health()).includes('4 succeeded'), 'four outcomes are recorded');
  const byId = new Map((await feedOf(customer)).data.map((event) => [event.id, JSON.stringify(event)]));
  for (const { event, rawBody, verified } of receiver.received)
    expect([verified, rawBody.toString('utf8')]).toEqual([true, byId.get(event.id)]);
  for (const readingId of [before, during]) {
    const own = receiver.received.filter(({ event }) => event.readingId === readingId);
    expect(own.map(({ event }) => event.sequence)).toEqual([1, 2]);
  }
  expect((await ops('replay', ...replay, '--statuses', 'succeeded')).stdout).toMatch(/^4 events/);
  expect(await report('health', ...of)).toMatchObject({ attempts: { succeeded: 4 }, verification: null });
});
