import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../support/random.js';
import { again, isSoak, rounds, seedOr } from '../support/rounds.js';
import type { Integrator } from '../support/integrator.js';
import { everythingEnds, nothingIsLost } from './support/nothing-lost.js';
import { Orders } from './support/orders.js';
import { removeDisk, smallDisk } from './support/small-disk.js';
import { diskFilling, FORECASTS, type Forecast } from './support/storms/faults.js';
import { StormyService } from './support/storms/stormy-service.js';

/** Of each kind. TEST_LOGS names a folder for the logs of the processes. */
const STORMS = rounds(1, 20);
/** Of the first storm; the next one has the next seed. */
const SEED = seedOr(3);
const READINGS = isSoak ? 6 : 4;
const LONGEST_MS = isSoak ? 5_000 : 2_000;
const RESERVE_MIB = 100;
const DISK_MIB = 1_024;

// Mounting needs rights that not every user has.
const disk = smallDisk(DISK_MIB);
const { partition, pause } = FORECASTS;
const forecasts: Readonly<Record<string, Forecast>> = {
  // In CI both at once.
  ...(isSoak ? FORECASTS : {}),
  'partition-and-pause': (...given) => [...partition(...given), ...pause(...given)],
  ...(disk === null ? {} : { disk: diskFilling(disk) }),
};

let service: StormyService;
let orders: Orders;
/** Chooses the API of each request. */
const callers = new Random(SEED);

beforeAll(async () => {
  const settings: Record<string, string> =
    disk === null ? {} : { DISK_FOLDER: disk, DISK_RESERVE_MIB: String(RESERVE_MIB) };
  service = await StormyService.start(settings, disk === null ? undefined : join(disk, 'data'));
  orders = new Orders(() => callers.pick(service.callers as [Integrator]));
});

afterAll(async () => {
  try {
    const codes = await service?.stop();
    expect([...(codes ?? [])].filter(([, code]) => code !== 0)).toEqual([]);
  } finally {
    if (disk !== null) removeDisk(disk);
  }
});

/** One storm under load, and all that must hold when it is over. */
const weather = async (kind: string, forecast: Forecast, seed: number): Promise<void> => {
  const random = new Random(seed);
  const faults = forecast(service, random, LONGEST_MS);
  const what = `${kind}, seed ${seed}: ${faults.map((fault) => fault.what).join('; ')}`;
  const stores = service.stores.pids();
  const keys = Array.from({ length: READINGS }, (_, n) => `${kind}-${seed}-${n}`);
  await Promise.all([
    ...faults.map(({ strike }) => strike()),
    ...keys.map(async (key) => {
      await delay(random.between(0, LONGEST_MS));
      await orders.order(key);
      await orders.look(key);
    }),
  ]);
  try {
    const aftermath = { ...service.aftermath, accepted: orders.readings };
    await service.probeEndpoint();
    await everythingEnds(aftermath);
    await service.untilAtRest();
    if (isSoak) await nothingIsLost(aftermath);
    expect(orders.complaints).toEqual([]);
    expect(service.ended()).toEqual([]);
    // PostgreSQL may end when its disk is full: the stack starts it when there is room.
    if (kind !== 'disk') expect(service.stores.pids()).toEqual(stores);
  } catch (error) {
    throw new Error(`After a storm (${what}). Again: ${again('storms', 1, seed)}`, { cause: error });
  } finally {
    if (isSoak) process.stderr.write(`${what}. ${orders.refusals} refusals\n`);
  }
};

describe(`${STORMS} storms each, from seed ${SEED}, on two APIs and two workers`, () => {
  for (const [kind, forecast] of Object.entries(forecasts))
    it(
      `lose nothing, and no process ends: ${kind}`,
      async () => {
        for (let seed = SEED; seed < SEED + STORMS; seed += 1) await weather(kind, forecast, seed);
      },
      60_000 + STORMS * 200_000,
    );

  it('have lost nothing after the last of them', () =>
    nothingIsLost({ ...service.aftermath, accepted: orders.readings }));
});
