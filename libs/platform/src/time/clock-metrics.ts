import { Gauge, type Registry } from 'prom-client';
import type { TrustedTime } from './trusted-time.js';

/** Metrics of this process's clock, as last compared. */
export const measureClock = (time: TrustedTime, registry: Registry): void => {
  new Gauge({
    name: 'clock_trusted',
    help: '1: the clocks of this process, PostgreSQL and the event store agree; 0: they differ too much for work that time causes',
    registers: [registry],
    collect() {
      this.set(time.verdict.level === 'refused' ? 0 : 1);
    },
  });
  new Gauge({
    name: 'clock_difference_seconds',
    help: 'Largest certain difference between the clocks of this process, PostgreSQL and the event store',
    registers: [registry],
    collect() {
      this.set(time.verdict.apartMs / 1_000);
    },
  });
};
