import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { POSTGRES } from '#platform/postgres/pool.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';

const OVERDUE = `
  select count(*)::float8 as overdue, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest
  from (select due_at from publishing.publication where due_at < now()
        union all
        select due_at from publishing.republication where due_at < now()) as late`;

/**
 * Documents that are not made in time, the same for every worker. One that cannot be made never ends a publication, so no
 * duration shows it, and its job waits in between, so no queue does.
 */
@Injectable()
export class PublicationMetrics {
  constructor(@Inject(POSTGRES) pool: Pick<Pool, 'query'>, @Inject(METRICS) registry: Registry) {
    scrapedGauges(
      registry,
      'publications',
      {
        publications_overdue: { help: 'Documents whose jobs count as lost: 30 s after they were asked for' },
        publications_oldest_overdue_seconds: { help: 'How long the oldest of them has been overdue' },
      },
      async () => {
        const { rows } = await pool.query<{ overdue: number; oldest: number }>(OVERDUE);
        const { overdue, oldest } = rows[0]!;
        return {
          publications_overdue: [{ value: overdue }],
          publications_oldest_overdue_seconds: [{ value: oldest }],
        };
      },
    );
  }
}
