import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fill, removeDisk, smallDisk } from './support/small-disk.js';

const folder = smallDisk(400);
// Mounting needs rights that not every user has.
(folder === null ? describe.skip : describe)('a full disk', () => {
  const filler = join(folder!, 'filler');
  let stack: StartedStack | undefined;
  let customer: Integrator;
  let readingId: string;

  const start = async (): Promise<void> => {
    stack = await startStack({ dataDir: join(folder!, 'data'), env: { DISK_RESERVE_MIB: '100' } });
    if (customer) customer = Object.assign(customer, { baseUrl: stack.baseUrl });
  };
  const stop = async (): Promise<void> => {
    await stack?.stop();
    stack = undefined;
  };
  const fillToTheLastByte = (): void => {
    while (freeBytes(folder!) > 0) fill(filler, freeBytes(folder!));
  };
  const accepts = () =>
    until(
      async () => (await customer.create(person())).status === 202,
      () => `new work is accepted\n${stack!.output()}`,
    );

  beforeAll(async () => {
    await start();
    customer = await Integrator.open(stack!, 100_000);
    ({ readingId } = (await customer.create(person())).body);
    await customer.untilEnded(readingId);
  });
  afterEach(async () => {
    rmSync(filler, { force: true });
    await stop();
  });
  afterAll(() => removeDisk(folder!));

  it('makes the stack refuse new work with the cause, and it recovers by itself', async () => {
    fillToTheLastByte();
    expect((await customer.create(person())).status).toBe(503);
    expect((await customer.call('GET', `/api/v1/readings/${readingId}`)).status).toBe(200);
    expect(await (await fetch(`${stack!.baseUrl}/readyz`)).json()).toMatchObject({
      checks: { disk: false },
      causes: { disk: 'disk_full' },
    });
    const { main } = stack!.pids();
    rmSync(filler);
    await accepts();
    expect(stack!.pids().main).toBe(main);
  });

  it('refuses a start with one line, and the stack works once there is room', async () => {
    fillToTheLastByte();
    await expect(start()).rejects.toThrow(
      /did not start:\nThe disk of .*data is full, and nothing was started\. Free some space, 24 MiB at least\.$/m,
    );
    rmSync(filler);
    await start();
    await accepts();
  });
});
