import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { Integrator, person, until } from '../support/integrator.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';

let dataDir: string;
let stack: StartedStack;
let receiver: Receiver;

beforeAll(async () => {
  dataDir = temporaryDataDir();
  receiver = await startReceiver();
});

afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
  removeDataFolder(dataDir);
});

/** Restarts the stack after editing its key-encryption keys, as an operator does. The first call only starts it. */
const start = async (change: (keys: string) => string = (keys) => keys): Promise<StartedStack> => {
  const file = join(dataDir, 'secrets.json');
  if (stack) {
    await stack.stop();
    const secrets = JSON.parse(readFileSync(file, 'utf8')) as { ENCRYPTION_KEYS: string };
    const changed = { ...secrets, ENCRYPTION_KEYS: change(secrets.ENCRYPTION_KEYS) };
    writeFileSync(file, JSON.stringify(changed));
  }
  stack = await startStack({ dataDir, env: RECEIVER_SETTINGS });
  return stack;
};

const keysInUse = async (): Promise<Record<string, number>> => {
  const { sealed } = (await stack.ops(['keys', 'status'])) as {
    sealed: { what: string; key: string; count: number }[];
  };
  return Object.fromEntries(sealed.map(({ what, key, count }) => [`${what} ${key}`, count]));
};

it('A key-encryption key can be rotated under load; then the old one is no longer needed', async () => {
  let customer = await Integrator.open(await start(), 100_000);
  const { body: endpoint } = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url, headers: { 'x-tenant': 'sealed' } },
  });
  receiver.secret = endpoint.signingSecret;
  const first = (await customer.create(person())).body.readingId;
  await customer.untilEnded(first);

  customer = customer.at(await start((keys) => `k2:${randomBytes(32).toString('base64')},${keys}`));
  const during: string[] = [];
  let loading = true;
  const load = (async () => {
    while (loading) {
      const { status, body } = await customer.create(person());
      if (status === 202) during.push(body.readingId);
      await delay(200);
    }
  })();
  expect(await stack.ops(['encryption-keys', 'rewrap'])).toMatchObject({
    done: false,
    sealed: [
      { what: 'keys of readings', due: 0, rewrapped: 0 },
      // The signing secret, and the custom headers.
      { what: 'webhook secrets', due: 2, rewrapped: 0 },
      { what: 'keys of epochs', due: 1, rewrapped: 0 },
    ],
  });
  expect(await stack.ops(['encryption-keys', 'rewrap', '--yes'])).toMatchObject({
    current: 'k2',
    done: true,
    sealed: [
      { rewrapped: 0, unopened: [] },
      { rewrapped: 2, unopened: [] },
      { rewrapped: 1, unopened: [] },
    ],
  });
  loading = false;
  await load;
  expect(during.length).toBeGreaterThan(0);
  for (const readingId of during) await customer.untilEnded(readingId);
  const inUse = Object.keys(await keysInUse());
  expect(inUse.filter((one) => !one.startsWith('keys of readings')).sort()).toEqual([
    'keys of epochs k2',
    'webhook secrets k2',
  ]);

  customer = customer.at(await start((keys) => keys.split(',')[0]!));
  for (const readingId of [first, during[0]!]) {
    const reading = await customer.reading(readingId);
    expect(reading).toMatchObject({ status: 'completed', input: { dateOfBirth: person().dateOfBirth } });
    const { status } = await customer.call(
      'GET',
      `/api/v1/readings/${readingId}/document?format=document_v1`,
    );
    expect(status).toBe(200);
  }
  const last = (await customer.create(person())).body.readingId;
  await customer.untilEnded(last);
  const told = () => receiver.received.filter(({ event }) => event.readingId === last);
  await until(
    () => Promise.resolve(told().length === 2),
    () => `${told().length} webhooks`,
  );
  expect(told().every(({ verified, headers }) => verified && headers['x-tenant'] === 'sealed')).toBe(true);
});
