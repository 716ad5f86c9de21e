import { setTimeout as delay } from 'node:timers/promises';
import type { StoreConnection } from '@app/event-sourcing/store/store-connection.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';

const EVERY_MS = 1_000;

/**
 * Nothing probes a worker, so one whose connection to the event store is beyond help ends, for its supervisor to start
 * another. What it held is retaken when its leases run out.
 */
export const endBeyondHelp = (connection: Pick<StoreConnection, 'beyondHelp'>): WorkLoop => ({
  name: 'event store connection',
  async run(signal) {
    while (!signal.aborted) {
      if (connection.beyondHelp) throw new Error('The connection to the event store is beyond help');
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});
