import 'reflect-metadata';
import { setMaxListeners } from 'node:events';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { runConsumer } from '#event-sourcing/projections/runner.js';
import {
  EVENT_STORE,
  type EventStore,
  EVENT_STORE_CONNECTION,
  type StoreConnection,
} from '#event-sourcing/store/event-store.js';
import { auditRetention } from '#platform/audit/audit-records.js';
import { configHelp, loadConfig, startUp } from '#platform/config/load-config.js';
import type { WorkerRole } from '#platform/config/settings.js';
import { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { KeyUpkeep, upkeepEveryMs, upkeepSettings } from '#platform/crypto/epochs/key-upkeep.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { IdempotentRequests } from '#platform/idempotency/idempotent-requests.js';
import { runJobs, forgetReplacedJobs } from '#platform/jobs/job.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { endBeyondHelp, announce, stopWhenTold, surviveLateRejections } from '#platform/process/stopping.js';
import { RateLimiter } from '#platform/rate-limit/rate-limiter.js';
import { retentionLoop } from '#platform/retention/retention.js';
import { nestLogger } from '#platform/telemetry/logger.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';
import { startTelemetry } from '#platform/telemetry/start-telemetry.js';
import { heartbeat } from '#platform/time/heartbeat.js';
import { TrustedTime } from '#platform/time/trusted-time.js';
import { watchTime, whileTrusted } from '#platform/time/watch-time.js';
import {
  measureConsumers,
  measureJobs,
  measureKeys,
  measureRetention,
} from '#platform/work/worker-metrics.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { JOBS } from '../../service/src/modules.js';
import { settings } from '../../service/src/settings.js';
import { findMissingTables } from '../../service/src/tables.js';
import { WorkerModule } from './worker.module.js';

if (process.argv.includes('--help')) {
  process.stdout.write(
    `The worker: projections, processes, jobs and webhook delivery. Configured by its environment:\n${configHelp(settings)}\n`,
  );
  process.exit(0);
}

const { config, log } = startUp('worker', () => loadConfig(settings, process.env));
surviveLateRejections(log);
const telemetry = await startTelemetry('worker', process.env);

const app = await NestFactory.createApplicationContext(WorkerModule.forProcess(config, log), {
  logger: nestLogger(log),
});
const work = app.get(WorkRegistry);
const store = app.get<EventStore>(EVENT_STORE);
const pool = app.get<Pool>(POSTGRES);
const time = app.get(TrustedTime);

/** Between two rounds that delete obsolete rows. */
const HOUSEKEEPING_MS = 600_000;
const buckets = new RateLimiter(pool);
const requests = new IdempotentRequests(pool);
const keys = { ring: app.get(KeyRing), keys: app.get(EpochKeys) };
const upkeep = new KeyUpkeep({ pool, time, log, ...keys }, upkeepSettings(config));
// A loop each, so that none waits for a backlog of another.
for (const loop of [
  repeatedWork('housekeeping.buckets', HOUSEKEEPING_MS, (signal) => buckets.forget(signal), log),
  repeatedWork('housekeeping.answers', HOUSEKEEPING_MS, (signal) => requests.forget(signal), log),
  repeatedWork('housekeeping.jobs', HOUSEKEEPING_MS, () => forgetReplacedJobs(pool), log),
  repeatedWork('key-upkeep', upkeepEveryMs(config), (signal) => upkeep.round(signal), log),
  retentionLoop('audit.retention', pool, [auditRetention(pool, config)], time, log),
])
  work.addLoop(loop);

const metrics = app.get<Registry>(METRICS);
measureConsumers({ pool, store }, work.consumers, metrics);
measureJobs(pool, JOBS, metrics);
measureKeys(pool, config, metrics);
measureRetention(pool, metrics);
const gauges = { tables_missing: { help: 'Tables of the service that do not exist' } };
scrapedGauges(metrics, 'tables', gauges, async () => {
  return { tables_missing: [{ value: (await findMissingTables(pool)).length }] };
});
await telemetry.serve(metrics, config);

const stopping = new AbortController();
// Every consumer and loop keeps a listener for the lifetime of the process.
setMaxListeners(0, stopping.signal);
const does = (role: WorkerRole): boolean => config.WORKER_ROLES.includes(role);
const consumers = (does('follow') ? work.observedConsumers() : []).map((consumer) =>
  runConsumer(consumer, { store, pool, log }, stopping.signal),
);
// Every worker sends heartbeats, whatever its roles.
const ownLoops = work.loops.filter(({ role = 'upkeep' }) => does(role));
// Other workers take over when its leases expire.
const connection = app.get<StoreConnection>(EVENT_STORE_CONNECTION);
const timed = does('jobs')
  ? [...ownLoops, runJobs(pool, work.jobs, config.WORKER_CONCURRENCY, time, log)]
  : ownLoops;
const loops = [
  watchTime(time),
  heartbeat('worker', { pool, store, time }, config.WORKER_ROLES),
  endBeyondHelp(connection, 0),
  ...timed.map((loop) => whileTrusted(time, loop)),
].map((loop) =>
  loop.run(stopping.signal).catch((error: unknown) => {
    log.fatal({ loop: loop.name, err: error }, 'a loop ended with an error');
    process.exit(1);
  }),
);

stopWhenTold(log, process.env, async () => {
  stopping.abort();
  await Promise.allSettled([...consumers, ...loops]);
  await app.close();
  await telemetry.stop();
});
announce({ event: 'working', roles: config.WORKER_ROLES });
