import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';

/** Metrics of this process's database connections. */
export const measurePool = (pool: Pool, registry: Registry): void => {
  new Gauge({
    name: 'postgres_pool_connections',
    help: 'Open connections of this process, busy or idle',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'postgres_pool_waiting',
    help: 'Callers in this process waiting for a connection',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount);
    },
  });
  new Gauge({
    name: 'postgres_pool_size',
    help: 'Connections this process may open',
    registers: [registry],
    collect() {
      this.set(pool.options.max);
    },
  });
};
