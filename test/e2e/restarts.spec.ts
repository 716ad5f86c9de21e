import { afterAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { programPath } from '#platform/program-path.js';
import { identify } from '#embedded-event-store/log/folder-lock.js';
import {
  fixture,
  RECEIVER_SETTINGS,
  removeDataFolder,
  startApi,
  startReceiver,
  startStack,
  temporaryDataDir,
  type StartedStack,
} from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';

const dataDir = temporaryDataDir();
const receiver = fixture(startReceiver);
let stack: StartedStack;
let customer: Integrator;
afterAll(async () => {
  await stack?.stop();
  removeDataFolder(dataDir);
});

const secretsFile = join(dataDir, 'secrets.json');
const secrets = () => JSON.parse(readFileSync(secretsFile, 'utf8')) as { ENCRYPTION_KEYS: string };
const start = async (env: Record<string, string> = {}): Promise<void> => {
  stack = await startStack({ dataDir, env: { ...RECEIVER_SETTINGS, ...env } });
  customer = customer?.at(stack);
};

const refusal = (env: Record<string, string>) => {
  const { status, stderr } = spawnSync(process.execPath, [programPath('embedded')], {
    env: { ...process.env, EMBEDDED_SKIP_DEMO_WORKSPACE: '1', ...env },
    encoding: 'utf8',
  });
  return { status, lines: stderr.trim().split('\n') };
};

/** The whole answer to a request that is repeated with its key. */
const kept = async (target: string, body: object) => {
  const answer = await fetch(`${stack.baseUrl}/api/v1${target}`, {
    method: 'POST',
    headers: { 'x-api-key': customer.apiKey, 'content-type': 'application/json', 'idempotency-key': 'kept' },
    body: JSON.stringify(body),
  });
  return [answer.status, answer.headers.get('location'), await answer.text()];
};
const orders = async () => [
  await kept('/readings', person('Anaïs')),
  await kept('/webhooks', { url: 'https://receiver.invalid/hook' }),
];

describe('a stack on one data folder', () => {
  let before: string;
  let answers: unknown;

  it('shows a newcomer the way into the portal of its demo workspace, and refuses a second stack', async () => {
    await start({ EMBEDDED_SKIP_DEMO_WORKSPACE: '0' });
    const link = () => /http:\S+\/portal\/enter\/[\w-]{43}/.exec(stack.output())?.[0];
    await until(
      () => link() !== undefined,
      () => `no link to the portal of the demo workspace\n${stack.output()}`,
    );
    // It asks; a form then enters.
    expect((await fetch(link()!, { redirect: 'manual' })).status).toBe(200);
    expect(refusal({ DATA_DIR: dataDir, PORT: '0' })).toEqual({
      status: 1,
      lines: [expect.stringContaining(`Already running on ${dataDir} (process ${stack.pids().main})`)],
    });
  });

  it('gives the same answers for an Idempotency-Key, byte for byte, after all processes were killed at once', async () => {
    customer = await Integrator.open(stack, 100_000);
    await customer.endpoint(receiver, { headers: { 'x-tenant': 'sealed' } });
    before = await customer.published();
    await orders();
    // The repeated answer lacks the secret of the endpoint, which is shown once.
    answers = await orders();
    await stack.killAll();
    expect(existsSync(join(dataDir, 'server.lock'))).toBe(true);
    // As an operator does while the stack is down.
    const ENCRYPTION_KEYS = `k2:${randomBytes(32).toString('base64')},${secrets().ENCRYPTION_KEYS}`;
    writeFileSync(secretsFile, JSON.stringify({ ...secrets(), ENCRYPTION_KEYS }));
    await start();
    expect(await orders()).toEqual(answers);
  });

  it('seals everything under a new key-encryption key, under load, and needs the former one no longer', async () => {
    const during: string[] = [];
    let loading = true;
    const load = (async () => {
      while (loading) {
        const { status, body } = await customer.create(person());
        if (status === 202) during.push(body.readingId);
        await delay(200);
      }
    })();
    const rewrap = ['keys', 'rewrap'];
    expect(await stack.ops(rewrap)).toMatchObject({
      done: false,
      sealed: [
        { what: 'keys of readings', rewrapped: 0 },
        // The signing secrets, and the custom headers.
        { what: 'webhook secrets', due: 3, rewrapped: 0 },
        { what: 'keys of epochs', due: 1, rewrapped: 0 },
      ],
    });
    expect(await stack.ops([...rewrap, '--yes'])).toMatchObject({
      current: 'k2',
      done: true,
      sealed: [{ unopened: [] }, { rewrapped: 3, unopened: [] }, { rewrapped: 1, unopened: [] }],
    });
    loading = false;
    await load;
    expect(during.length).toBeGreaterThan(0);
    for (const readingId of during) await customer.untilEnded(readingId);
    const { sealed } = (await stack.ops(['keys', 'status'])) as { sealed: { what: string; key: string }[] };
    const inUse = sealed
      .map(({ what, key }) => `${what} ${key}`)
      .filter((one) => !one.startsWith('keys of r'));
    expect(inUse.toSorted()).toEqual(['keys of epochs k2', 'webhook secrets k2']);

    const [ENCRYPTION_KEYS = ''] = secrets().ENCRYPTION_KEYS.split(',');
    const api = await startApi(stack, { ENCRYPTION_KEYS });
    for (const readingId of [before, during[0]!]) {
      const at = customer.at(stack, api.baseUrl);
      const input = { dateOfBirth: person().dateOfBirth };
      expect(await at.reading(readingId)).toMatchObject({ status: 'completed', input });
      const document = `/api/v1/readings/${readingId}/document?format=document_v1`;
      expect((await at.call('GET', document)).status).toBe(200);
    }
    await api.stop();
    const last = await customer.published();
    const told = () => receiver.received.filter(({ event }) => event.readingId === last);
    await until(
      () => told().length === 2,
      () => `${told().length} webhooks`,
    );
    expect(told().every(({ verified, headers }) => verified && headers['x-tenant'] === 'sealed')).toBe(true);
  });

  it('stops gracefully', async () => {
    const pids = stack.pids();
    expect(await stack.stop()).toBe(0);
    expect(Object.values(pids).filter((pid) => identify(pid) !== undefined)).toEqual([]);
    for (const file of ['runtime.json', 'server.lock'])
      expect([file, existsSync(join(dataDir, file))]).toEqual([file, false]);
  });
});

it('An unusable configuration is refused with one clear message', () => {
  const folder = temporaryDataDir();
  const unusable = 'The configuration cannot be used:';
  try {
    for (const [env, ...lines] of [
      [{ PORT: 'three' }, unusable, 'PORT'],
      [{ PORT: '0', PORTAL: '1', PUBLIC_URL: 'http://example.com' }, unusable, 'PORTAL'],
      [{ PORT: '1', HOST: '192.0.2.1' }, 'choose others with HOST and PORT'],
    ] as const)
      expect(refusal({ DATA_DIR: folder, ...env })).toEqual({
        status: 1,
        lines: lines.map((line) => expect.stringContaining(line)),
      });
  } finally {
    removeDataFolder(folder);
  }
});
