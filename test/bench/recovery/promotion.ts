import { setTimeout as delay } from 'node:timers/promises';
import { RECEIVER_SETTINGS } from '../../support/start-receiver.js';
import { Integrator, person } from '../../support/integrator.js';
import { FALLS, startPostgresPair, type Fall, type PostgresPair } from '../../support/postgres-pair.js';
import { startStores } from '../../support/start-processes.js';
import { recoveryAfter, type Fault, type Recovery } from './fault.js';

const CREDITS = 10_000_000;
/** The time limits of production, and no limit of rate. */
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'silent',
  RATE_CREATE_PER_MINUTE: '1000000',
  DATABASE_QUERY_TIMEOUT_MS: '5000',
};
const NAMES: Readonly<Record<Fall, string>> = {
  killed: 'PostgreSQL: the primary is killed, and its standby promoted',
  frozen:
    'PostgreSQL: the primary freezes (SIGSTOP), and its standby is promoted; calls on old connections fail after 5 s',
  'handed over': 'PostgreSQL: the primary is shut down, and its standby promoted',
};

/** A synchronous standby becomes the primary, behind a proxy that leads to it from then on. */
export const promotion: Fault = {
  name: 'promotion',
  run: async (say) => {
    let pair: PostgresPair | undefined;
    const stores = await startStores(SETTINGS, {
      startDatabase: async (folder, password, record) =>
        (pair = await startPostgresPair(folder, password, record)),
    });
    const processes = await Promise.all([stores.start('api'), stores.start('worker')]);
    try {
      const [{ baseUrl }] = processes;
      const { eventStoreUrl, dataDir, ops } = stores;
      const customer = await Integrator.open({ baseUrl, eventStoreUrl, dataDir, ops } as never, CREDITS);
      const post = async (): Promise<void> => {
        const { status } = await customer.create(person());
        if (status !== 202) throw new Error(`answered ${status}`);
      };
      const rows: Recovery[] = [];
      for (const fall of FALLS) {
        await pair!.attach('synchronous');
        await delay(1_000);
        let otherSide = 0;
        const recovery = await recoveryAfter(post, () => {
          const startedAt = performance.now();
          // The calls begin with the fault, and the promotion takes its time.
          void pair!.promote(fall).then(() => (otherSide = (performance.now() - startedAt) / 1_000));
        });
        say(
          `  ${fall}: ${recovery.seconds.toFixed(1)} s, ${otherSide.toFixed(1)} s of them for the promotion`,
        );
        rows.push({ fault: NAMES[fall], measured: 'a POST', ...recovery, otherSide });
      }
      return rows;
    } finally {
      await Promise.allSettled(processes.map((one) => one.stop()));
      await stores.stop();
    }
  },
};
