import { Counter, Gauge, type Registry } from 'prom-client';
import type { StoreConnection } from '@app/event-sourcing/store/store-connection.js';

/** How this process uses its connection to the event store. */
export const measureStoreConnection = (connection: StoreConnection, registry: Registry): void => {
  new Gauge({
    name: 'event_store_open_calls',
    help: 'Calls that this process has open at the event store, which takes 100 on a connection',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const [kind, open] of Object.entries(connection.openCalls())) this.set({ kind }, open);
    },
  });
  new Gauge({
    name: 'event_store_reads_waiting',
    help: 'Reads of this process that wait for a slot',
    registers: [registry],
    collect() {
      this.set(connection.waitingReads);
    },
  });
  new Counter({
    name: 'event_store_connection_renewals_total',
    help: 'Connections to the event store opened anew because calls were stuck on the old one',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(connection.renewals);
    },
  });
};
