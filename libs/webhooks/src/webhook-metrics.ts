import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { Counter, Histogram, type Registry } from 'prom-client';
import { POSTGRES } from '#platform/postgres/pool.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';
import { freeAt } from './read-models/delivery-sql.js';
import { DISABLED_REASONS } from './contracts/index.js';
import { ATTEMPT_ERRORS } from './domain/attempt.js';
import type { AttemptObserver } from './processes/dispatch/sender.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Due deliveries, by whether they may be sent now, or wait for the pace or the probe of their endpoint. */
const DUE = `
  select coalesce(sum(pending) filter (where free_at <= now()), 0)::float8 as due,
         coalesce(sum(pending) filter (where free_at > now()), 0)::float8 as held_back,
         coalesce(extract(epoch from now() - min(free_at) filter (where free_at <= now())), 0)::float8 as oldest
  from (
    select count(*) as pending,
           case when endpoint.max_per_second is null then ${freeAt('min(due_at)')} else 'infinity' end as free_at
    from webhooks.delivery
    join webhooks.endpoint using (endpoint_id)
    left join webhooks.endpoint_health health using (endpoint_id)
    where status = 'pending' and due_at <= now() and endpoint.enabled and endpoint.verified
      and not exists (select from webhooks.skipping where skipping.endpoint_id = delivery.endpoint_id)
    group by endpoint_id, endpoint.max_per_second, health.consecutive_failures, health.probe_at
  ) of_endpoint`;
const DISABLED = `
  select disabled_reason as reason, count(*)::float8 as endpoints from webhooks.endpoint
  where not enabled and deleted_at is null group by disabled_reason`;

/** Attempts are those of this worker. Queues and endpoints have the same values in every worker. */
@Injectable()
export class WebhookMetrics implements AttemptObserver {
  private readonly attempts: Counter<'result'>;
  private readonly seconds: Histogram;

  constructor(@Inject(POSTGRES) pool: Pool, @Inject(METRICS) registry: Registry) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'webhook_attempts_total',
      help: 'Attempts by result: succeeded, or a class of error',
      labelNames: ['result'],
      registers,
    });
    // Prometheus sees no increase in the first value of a series.
    for (const result of ['succeeded', ...ATTEMPT_ERRORS]) this.attempts.inc({ result }, 0);
    this.seconds = new Histogram({
      name: 'webhook_attempt_duration_seconds',
      help: 'Duration of an attempt',
      buckets: SECONDS,
      registers,
    });
    scrapedGauges(
      registry,
      'webhooks',
      {
        webhook_deliveries_due: { help: 'Due deliveries that may be sent now' },
        webhook_oldest_due_seconds: { help: 'How long the oldest of them has been due' },
        webhook_deliveries_held_back: {
          help: 'Due deliveries to endpoints that keep failing and are only sent probes',
        },
        webhook_endpoints_disabled: { help: 'Endpoints that are disabled', labelNames: ['reason'] },
      },
      async () => {
        const [due, disabled] = await Promise.all([
          pool.query<{ due: number; held_back: number; oldest: number }>(DUE),
          pool.query<{ reason: string; endpoints: number }>(DISABLED),
        ]);
        const { due: deliveries = 0, held_back: heldBack = 0, oldest = 0 } = due.rows[0] ?? {};
        const count = new Map(disabled.rows.map(({ reason, endpoints }) => [reason, endpoints]));
        return {
          webhook_deliveries_due: [{ value: deliveries }],
          webhook_oldest_due_seconds: [{ value: Math.max(0, oldest) }],
          webhook_deliveries_held_back: [{ value: heldBack }],
          webhook_endpoints_disabled: DISABLED_REASONS.map((reason) => ({
            labels: { reason },
            value: count.get(reason) ?? 0,
          })),
        };
      },
    );
  }

  attempted(result: string, seconds: number): void {
    this.attempts.inc({ result });
    this.seconds.observe(seconds);
  }
}
