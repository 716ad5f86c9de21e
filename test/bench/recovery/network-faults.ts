import { startRelay } from '#event-sourcing/testing/relay.js';
import type { Fault } from './fault.js';
import { measureAll, startInstallation, startStore, type Measured } from './installation.js';

/** Longer than any limit of a call. */
const PAUSE_MS = 5_000;

/** A network between the service and a store of one node. */
export const networkFaults: Fault = {
  name: 'network',
  run: async (say) => {
    const store = await startStore();
    const relay = await startRelay(store.port);
    const installation = await startInstallation(`esdb://127.0.0.1:${relay.port}?tls=false`);
    const pausing = (pause: () => void, resume: () => void): Pick<Measured, 'inflict' | 'otherSide'> => ({
      inflict: pause,
      otherSide: () =>
        new Promise((resolve) =>
          setTimeout(() => {
            resume();
            resolve(PAUSE_MS / 1_000);
          }, PAUSE_MS),
        ),
    });
    const faults: readonly Measured[] = [
      { fault: 'the connection to the store is reset', inflict: () => relay.cut() },
      {
        fault: 'the network to the store is down for 5 s',
        ...pausing(
          () => {
            relay.refuse(true);
            relay.cut();
          },
          () => relay.refuse(false),
        ),
      },
      {
        fault: 'the store is frozen for 5 s (one node)',
        ...pausing(
          () => relay.hold('all'),
          () => relay.release(),
        ),
      },
      { fault: 'the connection falls silent, and new ones work', inflict: () => relay.freeze() },
      { fault: 'the connection is closed in one direction', inflict: () => relay.halfClose('answers') },
    ];
    try {
      return await measureAll(installation, faults, say);
    } finally {
      await installation.stop();
      await relay.stop();
      await store.stop();
    }
  },
};
