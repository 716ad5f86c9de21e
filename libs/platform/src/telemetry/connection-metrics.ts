import { Counter, Gauge, type Registry } from 'prom-client';
import type { StoreConnection } from '#event-sourcing/store/event-store.js';

/** Metrics of this process's connection to the event store. */
export const measureStoreConnection = (connection: StoreConnection, registry: Registry): void => {
  new Gauge({
    name: 'event_store_open_calls',
    help: 'Open calls of this process to the event store, which accepts 100 per connection',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const [kind, open] of Object.entries(connection.openCalls())) this.set({ kind }, open);
    },
  });
  new Gauge({
    name: 'event_store_reads_waiting',
    help: 'Reads of this process waiting for a slot',
    registers: [registry],
    collect() {
      this.set(connection.waitingReads);
    },
  });
  new Counter({
    name: 'event_store_connection_renewals_total',
    help: 'Reconnections to the event store because calls were stuck on the old connection',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(connection.renewals);
    },
  });
};
