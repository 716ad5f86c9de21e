import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { POSTGRES } from '#platform/postgres/pool.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';

const LAST_RUN = `
  select extract(epoch from started_at)::float8 as started, extract(epoch from finished_at)::float8 as finished,
         differences::float8, pending::float8, books::float8
  from billing.reconciliation`;

interface LastRun {
  readonly started: number;
  readonly finished: number | null;
  readonly differences: number | null;
  readonly pending: number | null;
  readonly books: number | null;
}

/** Metrics of the last scheduled reconciliation, the same for every worker. Before the first one, no samples. */
@Injectable()
export class LedgerMetrics {
  constructor(@Inject(POSTGRES) pool: Pool, @Inject(METRICS) registry: Registry) {
    const sample = (value: number | null | undefined) => (typeof value === 'number' ? [{ value }] : []);
    scrapedGauges(
      registry,
      'ledger',
      {
        ledger_reconciliation_differences: {
          help: 'Differences the last reconciliation found; anything but 0 is wrong',
        },
        ledger_reconciliation_pending: {
          help: 'Completed readings still within the grace for their capture',
        },
        ledger_reconciliation_books: { help: 'Books the last reconciliation compared' },
        ledger_reconciliation_started_timestamp_seconds: { help: 'When the last reconciliation started' },
        ledger_reconciliation_finished_timestamp_seconds: {
          help: 'When the last reconciliation finished; absent while it runs',
        },
      },
      async () => {
        const { rows } = await pool.query<LastRun>(LAST_RUN);
        const last = rows[0];
        return {
          ledger_reconciliation_differences: sample(last?.differences),
          ledger_reconciliation_pending: sample(last?.pending),
          ledger_reconciliation_books: sample(last?.books),
          ledger_reconciliation_started_timestamp_seconds: sample(last?.started),
          ledger_reconciliation_finished_timestamp_seconds: sample(last?.finished),
        };
      },
    );
  }
}
