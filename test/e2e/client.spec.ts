import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ReadingServiceClient, type CreateReading } from '@reading-service/client';
import { projectPath } from '#platform/project-path.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fixture, sharedStack, startReceiver } from '../support/index.js';

const stack = fixture(sharedStack);
const receiver = fixture(startReceiver);
const customer = fixture(() => Integrator.open(stack, 200));
const service = fixture(async () => clientWith({ apiKey: customer.apiKey }));
/** A client with a bearer token, for operations that refuse API keys. */
const owner = fixture(async () => {
  const { authorization } = await customer.bearer('keys:read keys:write readings:write');
  return clientWith({ token: authorization.replace('Bearer ', '') });
});
const clientWith = (credentials: { apiKey: string } | { token: string }) =>
  new ReadingServiceClient({ baseUrl: stack.baseUrl, ...credentials });
const order = person() as CreateReading;

const collect = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
};

describe('The client, on a running service', () => {
  it('requests a reading, waits for it, and fetches its result and documents', async () => {
    const { readings } = service;
    const { readingId, status } = await readings.create(order);
    expect(status).toBe('queued');
    const done = await readings.waitUntilDone(readingId);
    expect(done).toMatchObject({ status: 'completed' });
    expect(await readings.getIfChanged(done)).toBeNull();
    expect((await readings.result(readingId)).engineVersion).toEqual(expect.any(String));
    const tree = await readings.document(readingId, 'document_v1');
    const markdown = await readings.document(readingId, 'markdown');
    expect(markdown).toContain(tree.title);
    const pdf = await readings.document(readingId, 'pdf');
    expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-');
    const streamed = await collect(await readings.documentStream(readingId, 'pdf', { version: 1 }));
    expect(Buffer.concat(streamed).equals(pdf)).toBe(true);
    expect((await collect(readings.history(readingId, { limit: 2 }))).length).toBeGreaterThan(2);
    expect((await collect(readings.list({ status: 'completed' }))).map((one) => one.readingId)).toEqual([
      readingId,
    ]);
    // The ledger is settled a moment later.
    await until(async () => (await service.credits()).reserved === 0, 'the credits are captured');
    expect(await service.credits()).toMatchObject({ available: 180, reserved: 0 });
  });

  it('manages webhook endpoints and their deliveries', async () => {
    const { webhooks } = service;
    const { endpointId, signingSecret } = await webhooks.create({ url: receiver.url });
    receiver.secret = signingSecret;
    const { deliveryId } = await webhooks.sendTest(endpointId, { type: 'reading.completed' });
    expect(
      (await receiver.waitFor(({ event }) => event.type === 'reading.completed', 120_000)).verified,
    ).toBe(true);
    expect((await collect(webhooks.list())).map((endpoint) => endpoint.endpointId)).toEqual([endpointId]);
    expect(await webhooks.update(endpointId, { description: 'orders' })).toMatchObject({
      description: 'orders',
    });
    expect(await webhooks.health(endpointId)).toMatchObject({ pending: expect.any(Number) });
    const isDone = async () => (await webhooks.delivery(endpointId, deliveryId)).status === 'succeeded';
    await until(isDone, 'an outcome is recorded after the receiver has answered');
    expect(await webhooks.delivery(endpointId, deliveryId)).toMatchObject({ deliveryId });
    const rotated = await webhooks.rotateSecret(endpointId, { overlapSeconds: 60 });
    expect(rotated.signingSecret).not.toBe(signingSecret);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { replayId } = await webhooks.replay(endpointId, {
      since,
      dryRun: true,
      statuses: ['succeeded'],
    });
    await until(
      async () => (await webhooks.getReplay(endpointId, replayId)).state === 'finished',
      'a service under load counts after it has answered',
    );
    // After the count, which leaves out what is pending again.
    expect(await webhooks.redeliver(endpointId, deliveryId)).toMatchObject({ redelivery: true });
    await webhooks.delete(endpointId);
    await expect(webhooks.get(endpointId)).rejects.toMatchObject({ code: 'webhook_not_found' });
    const type = ['reading.published', 'reading.failed'] as const;
    const { data } = await service.events.page({ type });
    expect([...new Set(data.map((event) => event.type))]).toEqual(['reading.published']);
  });

  it('manages keys and erases personal data, with a token', async () => {
    const { keyId } = await owner.keys.issue({ label: 'night shift' });
    expect((await owner.keys.list()).map((key) => key.keyId)).toContain(keyId);
    const rotated = await owner.keys.rotate(keyId, { overlapSeconds: 60 });
    expect(rotated).toMatchObject({ label: 'night shift', previousKeyId: keyId, apiKey: expect.any(String) });
    await owner.keys.revoke(keyId);
    const { readingId } = await service.readings.create(order);
    await service.readings.waitUntilDone(readingId);
    await owner.readings.erasePersonalData(readingId);
    const erasedAt = async () => (await service.readings.get(readingId)).erasedAt;
    await until(async () => (await erasedAt()) !== null, 'the reading is shown as erased');
    expect(await service.readings.waitUntilDone(readingId)).toMatchObject({ input: null });
    await expect(service.readings.result(readingId)).rejects.toMatchObject({ code: 'reading_erased' });
  });
});

describe('The README of the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-readme-'));
  const snippets = [
    ...readFileSync(projectPath('libs', 'client', 'README.md'), 'utf8').matchAll(/```js\n([\s\S]+?)```/g),
  ].map(([, code]) => code!);

  beforeAll(() => {
    for (const name of ['client', 'webhook-verifier']) {
      const installed = join(folder, 'node_modules', '@reading-service', name);
      mkdirSync(installed, { recursive: true });
      symlinkSync(projectPath('dist', 'libs', name, 'src'), join(installed, 'dist'));
      writeFileSync(
        join(installed, 'package.json'),
        readFileSync(projectPath('libs', name, 'package.json'), 'utf8'),
      );
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['a reading from order to PDF', 0, /^life path \d+, reading.pdf written$/m],
    ['what is refused', 1, /^reading_not_found 404 req_/m],
    ['webhooks and events', 2, /^\d+ \w+ function$/m],
  ])('has a working example: %s', async (_, index, printed) => {
    const file = join(folder, `snippet-${index}.mjs`);
    writeFileSync(file, snippets[index]!);
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: folder,
      env: { BASE_URL: stack.baseUrl, API_KEY: customer.apiKey, HOOK_URL: receiver.url },
    });
    expect(stdout).toMatch(printed);
  });

  it('opens, lists and ends sessions of the portal', async () => {
    const { apiKey } = await customer.withKey('--scopes', 'portal:write,readings:read');
    const { portal } = clientWith({ apiKey });
    const { sessionId, url } = await portal.open({ scopes: ['readings:read'] });
    expect(url).toMatch(/^http:.*[/]portal[/]enter[/][\w-]{43}$/);
    expect(await collect(portal.list())).toMatchObject([{ sessionId, startedAt: null, endedAt: null }]);
    await portal.end(sessionId);
    expect(await collect(portal.list({ limit: 1 }))).toMatchObject([{ endedAt: expect.any(String) }]);
  });
});
