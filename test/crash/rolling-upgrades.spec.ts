import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { programPath } from '#platform/program-path.js';
import { pendingMigrations } from '#platform/postgres/pending-migrations.js';
import { serviceSchemas } from '#platform/postgres/schemas.js';
import { MODULES } from '../../apps/service/src/modules.js';
import { Integrator, until } from '../support/integrator.js';
import { RECEIVER_SETTINGS, startReceiver, type Receiver } from '../support/index.js';
import { isSoak, rounds } from '../support/rounds.js';
import {
  embeddedDatabase,
  startStores,
  type StartDatabase,
  type StartedProcess,
  type StartedStores,
} from '../support/start-processes.js';
import { startLoad } from './support/load.js';
import { nothingIsLost } from './support/nothing-lost.js';
import { buildOf, previousVersion } from './support/previous-build.js';

/** Building it takes minutes, so only the long form does. */
const EARLIER = isSoak ? previousVersion() : null;
const UPGRADES = rounds(1, 3);
const READINGS_A_STEP = 4;
const CREDITS = 1_000_000;
/** A worker tries parked streams again every 30 s. */
const PARKED_MS = 300_000;
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'silent',
  RATE_CREATE_PER_MINUTE: '1000000',
  READING_LEASE_MS: '5000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '3000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
  RESERVATION_FENCE_MS: '6000',
};
/** Two of each, so that one goes on while the other is exchanged. */
const PROCESSES = ['worker', 'worker', 'api', 'api'] as const;

let previous = '';

beforeAll(async () => {
  if (EARLIER !== null) previous = await buildOf(EARLIER);
});

const programOf = (name: 'api' | 'worker' | 'ops', version: 'previous' | 'present'): string =>
  version === 'present' ? programPath(name) : join(previous, 'dist', `${name}.js`);

/** The commands of the version before, as its operator ran them. */
const previousOps =
  (env: NodeJS.ProcessEnv) =>
  async (args: readonly string[]): Promise<unknown> => {
    const run = [programOf('ops', 'previous'), ...args, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, run, { env });
    return JSON.parse(stdout) as unknown;
  };

/** A database without the tables of this version. */
const emptyDatabase: StartDatabase = async (...parts) => {
  const database = await embeddedDatabase(...parts);
  const client = new pg.Client({ connectionString: database.urls.admin });
  await client.connect();
  await client.query(`drop schema if exists ${serviceSchemas(MODULES).join(', ')} cascade`);
  await client.end();
  return database;
};

let stores: StartedStores | undefined;
let receiver: Receiver | undefined;
let processes: StartedProcess[] = [];

afterEach(async () => {
  await Promise.allSettled(processes.map((one) => one.stop()));
  await receiver?.stop();
  await stores?.stop();
});

const suite = EARLIER === null ? describe.skip : describe;

suite('rolling upgrades and downgrades (in the long form, once tables differ from those of v1.0.0)', () => {
  it.each(Array.from({ length: UPGRADES }, (_, index) => index + 1))(
    'number %i loses nothing, under load',
    async (number) => {
      stores = await startStores(SETTINGS, { startDatabase: emptyDatabase });
      const { environment, eventStoreUrl, dataDir, start } = stores;
      const ops = previousOps(environment);
      await ops(['migrate']);
      expect(await pendingMigrations(environment['DATABASE_OWNER_URL']!, MODULES)).not.toEqual([]);
      processes = await Promise.all(PROCESSES.map((name) => start(name, {}, programOf(name, 'previous'))));
      receiver = await startReceiver();
      const baseUrl = processes[2]!.baseUrl;
      const customer = await Integrator.open({ baseUrl, eventStoreUrl, dataDir, ops } as never, CREDITS);
      const endpoint = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
        body: { url: receiver.url },
      });
      receiver.secret = endpoint.body.signingSecret;
      const load = startLoad(
        () => processes.slice(2).map((api) => api.baseUrl),
        customer,
        `upgrade-${number}`,
      );
      const exchanged: (string | null)[] = [];
      /** Exchanges one process after the other, in this order, while customers order. */
      const exchange = async (order: readonly number[], version: 'previous' | 'present'): Promise<void> => {
        for (const index of order) {
          const ordered = load.order(READINGS_A_STEP);
          exchanged.push(processes[index]!.ended());
          await processes[index]!.stop();
          processes[index] = await start(PROCESSES[index]!, {}, programOf(PROCESSES[index]!, version));
          await ordered;
        }
      };

      const ordered = load.order(READINGS_A_STEP);
      await stores.ops(['migrate']);
      await ordered;
      // As docs/operations.md says: workers first, and back in the other order.
      await exchange([0, 1, 2, 3], 'present');
      await exchange([2, 3, 0, 1], 'previous');
      await exchange([0, 1, 2, 3], 'present');

      // Processes of the previous version parked streams with newer events. A worker of this one tries them again.
      await until(
        async () => {
          const { stopped } = (await stores!.ops(['parked', 'list'])) as { stopped: object[] };
          return stopped.length === 0;
        },
        () => 'nothing is parked',
        PARKED_MS,
      );
      await nothingIsLost({
        stack: stores,
        customer: customer.at({ ...stores, baseUrl } as never),
        receiver,
        accepted: load.accepted,
        credits: CREDITS,
      });
      expect(load.accepted.size).toBe(READINGS_A_STEP * (1 + exchanged.length));
      expect([...load.answers.keys()].filter((status) => ![0, 202, 503].includes(status))).toEqual([]);
      // None had ended by itself.
      expect(exchanged.filter((ending) => ending !== null)).toEqual([]);
    },
    900_000,
  );
});
