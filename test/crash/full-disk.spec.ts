import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fill, removeDisk, smallDisk } from './support/small-disk.js';

const MEBIBYTE = 1024 * 1024;
const RESERVE_MIB = 100;

interface Readiness {
  readonly checks: Readonly<Record<string, boolean>>;
}
const readiness = async (stack: StartedStack): Promise<Readiness> =>
  (await (await fetch(`${stack.baseUrl}/readyz`)).json()) as Readiness;

describe('a disk without the reserve', () => {
  let stack: StartedStack;
  beforeAll(async () => {
    // More than any disk has.
    stack = await startStack({ env: { DISK_RESERVE_MIB: '1000000000' } });
  });
  afterAll(() => stack?.stop());

  it('new work gets 503 with the reason, reads and deletions continue, and /readyz names the disk', async () => {
    const customer = await Integrator.open(stack, 100);
    const refused = await customer.create(person());
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toMatchObject([
      503,
      { code: 'enqueue_unavailable', detail: expect.stringContaining('short of disk space') },
      '60',
    ]);
    expect((await customer.call('GET', '/api/v1/readings')).status).toBe(200);
    expect(
      (await customer.call('DELETE', '/api/v1/webhooks/6f1c2c3e-0000-4000-8000-000000000000')).status,
    ).toBe(404);
    expect(await readiness(stack)).toMatchObject({
      status: 'not ready',
      checks: { disk: false, postgres: true },
    });
  });
});

const folder = smallDisk(400);
// Mounting needs rights that not every user has; the behaviour below the reserve is tested above everywhere.
(folder === null ? describe.skip : describe)('a disk that fills', () => {
  let stack: StartedStack;
  let customer: Integrator;
  const start = () =>
    startStack({ dataDir: join(folder!, 'data'), env: { DISK_RESERVE_MIB: String(RESERVE_MIB) } });
  beforeAll(async () => {
    stack = await start();
    customer = await Integrator.open(stack, 100_000);
  });
  afterAll(async () => {
    try {
      await stack?.stop();
    } finally {
      removeDisk(folder!);
    }
  });

  afterEach(() => {
    for (const name of ['below-the-reserve', 'full']) rmSync(join(folder!, name), { force: true });
  });

  it('takes no new work below the reserve, and accepts it again when there is room', async () => {
    const { body } = await customer.create(person());
    await customer.untilEnded(body.readingId);
    const pids = stack.pids();
    const low = join(folder!, 'below-the-reserve');
    fill(low, freeBytes(folder!) - (RESERVE_MIB - 10) * MEBIBYTE);
    await until(
      async () => (await customer.create(person())).status === 503,
      () => 'new work is refused',
    );
    expect(await customer.call('GET', `/api/v1/readings/${body.readingId}`)).toMatchObject({ status: 200 });
    rmSync(low);
    await accepts();
    expect(stack.pids()).toEqual(pids);
  });

  const accepts = () =>
    until(
      async () => (await customer.create(person())).status === 202,
      () => `new work is accepted\n${stack.output()}`,
    );

  it('a database that dies meanwhile is started when there is room, however long that takes', async () => {
    const { postgres, main } = stack.pids();
    const file = join(folder!, 'full');
    fill(file, freeBytes(folder!));
    process.kill(postgres, 'SIGKILL');
    // Long enough for the six deaths that would end the stack. Someone else takes all the room that it makes.
    for (let round = 0; round < 50; round++) {
      fill(file, freeBytes(folder!));
      await delay(100);
    }
    expect(stack.pids().main).toBe(main);
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
    expect((await readiness(stack)).checks).toMatchObject({ postgres: false, disk: false });
    rmSync(file);
    await accepts();
    expect(stack.pids().main).toBe(main);
  });

  it('refuses a start with one line, and the stack works once there is room', async () => {
    await stack.stop();
    const file = join(folder!, 'full');
    while (freeBytes(folder!) > 0) fill(file, freeBytes(folder!));
    await expect(start()).rejects.toThrow(
      /did not start:\nThe disk of .*data is full, and nothing was started\. Free some space, 24 MiB at least\.$/m,
    );
    rmSync(file);
    stack = await start();
    customer = customer.at(stack);
    await accepts();
  });
});
