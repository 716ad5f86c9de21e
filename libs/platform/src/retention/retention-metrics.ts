import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { scrapedGauges } from '../telemetry/scraped-gauges.js';

const ROUNDS = 'select kind, extract(epoch from ran_at)::float8 as ran_at from platform.retention_round';

/**
 * When each kind of data that ends after a term was last looked through, the same for every worker. Whether something has
 * outlived its term would be a count of rows at each scrape; that nobody deletes it shows in this.
 */
export const measureRetention = (pool: Pick<Pool, 'query'>, registry: Registry): void =>
  scrapedGauges(
    registry,
    'retention',
    {
      retention_round_timestamp_seconds: {
        help: 'When the last whole round of deletions ended for a kind of data',
        labelNames: ['kind'],
      },
    },
    async () => {
      const { rows } = await pool.query<{ kind: string; ran_at: number }>(ROUNDS);
      return {
        retention_round_timestamp_seconds: rows.map(({ kind, ran_at: value }) => ({
          labels: { kind },
          value,
        })),
      };
    },
  );
