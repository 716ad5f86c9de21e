import 'reflect-metadata';
import { setMaxListeners } from 'node:events';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { runConsumer } from '@app/event-sourcing/projections/runner.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { EVENT_STORE_CONNECTION, type StoreConnection } from '@app/event-sourcing/store/store-connection.js';
import { auditRetention } from '@app/platform/audit/audit-retention.js';
import { configHelp, loadConfig } from '@app/platform/config/load-config.js';
import type { WorkerRole } from '@app/platform/config/settings.js';
import { startUp } from '@app/platform/config/start-up.js';
import { measureKeys } from '@app/platform/crypto/epochs/key-metrics.js';
import { measureJobs } from '@app/platform/jobs/job-metrics.js';
import { startJobs } from '@app/platform/jobs/job-runner.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { endBeyondHelp } from '@app/platform/process/end-beyond-help.js';
import { announce, stopWhenTold, surviveLateRejections } from '@app/platform/process/stopping.js';
import { nestLogger } from '@app/platform/telemetry/logger.js';
import { METRICS } from '@app/platform/telemetry/metrics.js';
import { startTelemetry } from '@app/platform/telemetry/start-telemetry.js';
import { CLOCK } from '@app/platform/tokens.js';
import { measureConsumers } from '@app/platform/work/consumer-metrics.js';
import { WorkRegistry } from '@app/platform/work/work-registry.js';
import { settings } from '../../service/src/settings.js';
import { heartbeat } from './heartbeat.js';
import { housekeeping } from './housekeeping.js';
import { keyUpkeep } from './key-upkeep.js';
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
work.addLoop(housekeeping(pool, log));
work.addLoop(keyUpkeep(app, config, log));
work.addLoop(auditRetention(pool, app.get<Clock>(CLOCK), config, log));

const metrics = app.get<Registry>(METRICS);
measureConsumers({ pool, store, clock: app.get<Clock>(CLOCK) }, work.consumers, metrics);
measureJobs(
  pool,
  work.jobs.map(({ task }) => task),
  metrics,
);
measureKeys(pool, config, metrics);
await telemetry.serve(metrics, config);

const stopping = new AbortController();
// Every consumer and loop keeps a listener for the lifetime of the process.
setMaxListeners(0, stopping.signal);
const does = (role: WorkerRole): boolean => config.WORKER_ROLES.includes(role);
const consumers = (does('follow') ? work.observedConsumers() : []).map((consumer) =>
  runConsumer(consumer, { store, pool, log, mostParked: config.CONSUMER_PARKED_MAX }, stopping.signal),
);
// Every worker sends heartbeats, whatever its roles.
const ownLoops = work.loops.filter(({ role = 'upkeep' }) => does(role));
// Other workers take over when its leases expire.
const connection = app.get<StoreConnection>(EVENT_STORE_CONNECTION);
const loops = [heartbeat(pool, store), endBeyondHelp(connection, 0), ...ownLoops].map((loop) =>
  loop.run(stopping.signal).catch((error: unknown) => {
    log.fatal({ loop: loop.name, err: error }, 'a loop ended with an error');
    process.exit(1);
  }),
);
const options = { concurrency: config.WORKER_CONCURRENCY, log, signal: stopping.signal };
const jobs = does('jobs') ? await startJobs(pool, work.jobs, options) : null;

stopWhenTold(log, process.env, async () => {
  stopping.abort();
  await Promise.allSettled([jobs?.stop(), ...consumers, ...loops]);
  await app.close();
  await telemetry.stop();
});
announce({ event: 'working', roles: config.WORKER_ROLES });
