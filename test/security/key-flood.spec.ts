import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { RANDOM_BYTES, apiKeyText, makeApiKey, type NewApiKey } from '#workspaces/domain/api-key.js';
import { KEYS_PER_WORKSPACE } from '#workspaces/application/api-keys.js';
import { until } from '../support/integrator.js';
import { Portal, openWorkspace, workspaceEvent } from '../support/portal.js';
import { DEFAULT_LIMITS } from '../support/default-limits.js';
import { startStores, type StartedProcess, type StartedStores } from '../support/start-processes.js';
import { KNOWN, manageKeys, statusOf, type Customer, type Key, type Listed } from './support/key-requests.js';
import { startTcpProxy, type StartedProxy } from '../support/start-tcp-proxy.js';

/** Places that are left in a crowded workspace. */
const LEFT = 5;
const SETTINGS = {
  LOG_LEVEL: 'error',
  RATE_MANAGE_PER_MINUTE: '1000000',
  RATE_READ_PER_MINUTE: '1000000',
  RATE_PUBLIC_PER_MINUTE: '1000000',
};

const portal = new Portal();

let stores: StartedStores;
let log: EventStore;
let proxy: StartedProxy;
let worker: StartedProcess;
let api: StartedProcess;
/** Reaches PostgreSQL through the proxy. */
let remote: StartedProcess;

beforeAll(async () => {
  stores = await startStores({ ...SETTINGS, ...(await portal.settings()) });
  log = await openEventStore({
    connectionString: stores.eventStoreUrl,
    appendTimeoutMs: 10_000,
    readTimeoutMs: 10_000,
  });
  const url = new URL(stores.environment['DATABASE_URL']!);
  proxy = await startTcpProxy(`${url.searchParams.get('host')}/.s.PGSQL.${url.port}`);
  url.search = '';
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  [worker, api, remote] = await Promise.all([
    stores.start('worker'),
    stores.start('api'),
    stores.start('api', { ...DEFAULT_LIMITS, DATABASE_URL: url.href }),
  ]);
});

afterAll(async () => {
  await Promise.allSettled([worker, api, remote].map((one) => one?.stop()));
  await proxy?.stop();
  await log?.close();
  await stores?.stop();
});

const open = async (): Promise<Customer> => {
  const workspaceId = await openWorkspace(log);
  return { workspaceId, token: await portal.mint(workspaceId, 'keys:read keys:write') };
};

const manage = <T = Record<string, unknown>>(
  customer: Customer,
  method: string,
  path: string,
  body?: object,
  process = api,
) => manageKeys<T>(process, customer, method, path, body);

const issue = async (customer: Customer, body: object = {}) => manage<Key>(customer, 'POST', '', body);
const revoke = async (customer: Customer, keyId: string): Promise<void> => {
  expect((await manage(customer, 'DELETE', `/${keyId}`)).status).toBe(204);
};

/** The parts of an answer that are the same for every request. */
const refusalOf = async (apiKey: string): Promise<unknown> => {
  const answer = await fetch(`${api.baseUrl}/api/v1/webhooks`, { headers: { 'x-api-key': apiKey } });
  const { instance, requestId, ...body } = (await answer.json()) as Record<string, unknown>;
  const ofRequest = ['x-request-id', 'date'];
  expect(instance).toBe(`urn:request:${String(requestId)}`);
  return { body, headers: [...answer.headers].filter(([name]) => !ofRequest.includes(name)) };
};

const newKey = (): NewApiKey =>
  makeApiKey({ id: randomBytes(RANDOM_BYTES), secret: randomBytes(RANDOM_BYTES) });

/** A workspace with a few places left for keys. */
const crowded = async (): Promise<Customer> => {
  const customer = await open();
  const events = Array.from({ length: KEYS_PER_WORKSPACE - LEFT }, () => {
    const { keyId, hash } = newKey();
    return workspaceEvent('ApiKeyIssued', customer.workspaceId, {
      ...{ keyId, hash, label: null, expiresAt: null, replaces: null },
      ...{ mode: 'live', scopes: ['webhooks:write'], networks: [] },
    });
  });
  await log.append(`workspace-${customer.workspaceId}`, 0n, events);
  return customer;
};

describe('the number of active keys', () => {
  it('is kept by rotations that race with issues, in several processes', async () => {
    const customer = await crowded();
    const first = await Promise.all(Array.from({ length: LEFT - 2 }, () => issue(customer)));
    const rotations = first.flatMap(({ body: { keyId } }) => [
      manage<Key>(customer, 'POST', `/${keyId}/rotate`, {}, api),
      manage<Key>(customer, 'POST', `/${keyId}/rotate`, {}, remote),
    ]);
    const answers = await Promise.all([...rotations, issue(customer), issue(customer)]);
    expect(
      answers
        .map(({ status }) => status)
        .toSorted()
        .slice(0, 3),
    ).toEqual([201, 201, 409]);
    const listed = (await manage<Listed>(customer, 'GET', '?limit=100')).body;
    expect([listed.data.length, listed.nextCursor ?? null]).toEqual([KEYS_PER_WORKSPACE, null]);
    for (const { body } of [...first, ...answers.filter(({ status }) => status === 201)])
      expect(await statusOf(api, body.apiKey)).toBe(KNOWN);
  });

  it('allows a rotation without overlap at the limit: every process refuses the previous key at once', async () => {
    const customer = await crowded();
    const [one] = await Promise.all(Array.from({ length: LEFT }, () => issue(customer)));
    const { keyId, apiKey } = one!.body;
    for (const process of [api, remote]) expect(await statusOf(process, apiKey)).toBe(KNOWN);
    const path = `/${keyId}/rotate`;
    expect((await manage(customer, 'POST', path)).status).toBe(409);
    const rotated = await manage<Key>(customer, 'POST', path, { overlapSeconds: 0 });
    expect(rotated.status).toBe(201);
    for (const process of [api, remote]) expect(await statusOf(process, apiKey)).toBe(401);
    for (const process of [api, remote]) expect(await statusOf(process, rotated.body.apiKey)).toBe(KNOWN);
    expect((await manage(customer, 'POST', path, { overlapSeconds: 0 })).status).toBe(404);
  });
});

describe('a revoked key', () => {
  it('is refused at once by the other processes', async () => {
    const customer = await open();
    const [here, there] = [await issue(customer), await issue(customer)];
    for (const { body } of [here, there]) expect(await statusOf(api, body.apiKey)).toBe(KNOWN);

    await stores.ops(['key', 'revoke', '--key', here.body.keyId]);
    await revoke(customer, there.body.keyId);
    for (const { body } of [here, there])
      for (const process of [api, remote]) expect(await statusOf(process, body.apiKey)).toBe(401);
  });

  it('appears under its id in the audit, like an expired one, without its holder learning so', async () => {
    const customer = await open();
    const [revoked, expired] = [
      (await issue(customer)).body,
      (await issue(customer, { expiresAt: new Date(Date.now() + 5_000).toISOString() })).body,
    ];
    await revoke(customer, revoked.keyId);
    const forged = apiKeyText('live', newKey());
    await until(
      async () => (await statusOf(api, expired.apiKey)) === 401,
      () => 'the key expires',
    );
    const answers = await Promise.all([revoked.apiKey, forged].map((apiKey) => refusalOf(apiKey)));
    expect(answers[0]).toEqual(answers[1]);

    for (const { keyId } of [revoked, expired]) {
      let told: readonly object[] = [];
      await until(
        async () => {
          ({ records: told } = (await stores.ops(['audit', '--key', keyId, '--refused'])) as {
            records: object[];
          });
          return told.length > 0;
        },
        () => 'the attempt is recorded',
      );
      expect(told[0]).toMatchObject({
        status: 401,
        actor: `apiKey:${keyId}`,
        workspaceId: customer.workspaceId,
        address: '127.0.0.1',
      });
    }
  });

  it('is not accepted, nor is any other, by a process that is cut off from PostgreSQL', async () => {
    const customer = await open();
    const { apiKey, keyId } = (await issue(customer)).body;
    expect(await statusOf(remote, apiKey)).toBe(KNOWN);
    proxy.cut();
    await revoke(customer, keyId);
    expect(await statusOf(remote, apiKey)).toBe(503);
    proxy.mend();
    await until(
      async () => (await statusOf(remote, apiKey)) === 401,
      () => 'the process reads the key again',
    );
  });
});
