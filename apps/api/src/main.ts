import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Clock } from '#event-sourcing/core/clock.js';
import {
  EVENT_STORE,
  EVENT_STORE_CONNECTION,
  type EventStore,
  type StoreConnection,
} from '#event-sourcing/store/event-store.js';
import { auditRequests } from '#platform/audit/audit-requests.js';
import { AuditTrail } from '#platform/audit/audit-trail.js';
import { configHelp, loadConfig, startUp } from '#platform/config/load-config.js';
import { measureDisk } from '#platform/disk/disk-reserve.js';
import { limitAddresses } from '#platform/http/admission.js';
import { configureHttp } from '#platform/http/configure-http.js';
import { HttpAdapter } from '#platform/http/http-adapter.js';
import { requireDeclared, routesOf } from '#platform/http/openapi/describe-api.js';
import { measureRequests } from '#platform/http/outcome.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import {
  endBeyondHelp,
  announce,
  DRAIN_WITHIN_MS,
  stopWhenTold,
  surviveLateRejections,
} from '#platform/process/stopping.js';
import { nestLogger } from '#platform/telemetry/logger.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { startTelemetry } from '#platform/telemetry/start-telemetry.js';
import { heartbeat } from '#platform/time/heartbeat.js';
import { TrustedTime } from '#platform/time/trusted-time.js';
import { watchTime } from '#platform/time/watch-time.js';
import { CLOCK } from '#platform/tokens.js';
import { servePortal } from '../../portal/src/serve-portal.js';
import { AUDITED } from '../../service/src/modules.js';
import { settings } from '../../service/src/settings.js';
import { ApiModule } from './api.module.js';
import { serveSite } from './serve-site.js';

if (process.argv.includes('--help')) {
  process.stdout.write(`The HTTP API. Configured by its environment:\n${configHelp(settings)}\n`);
  process.exit(0);
}

const { config, log } = startUp('api', () => loadConfig(settings, process.env));
surviveLateRejections(log);
const telemetry = await startTelemetry('api', process.env);

const adapter = new HttpAdapter(config);
const app = await NestFactory.create<NestExpressApplication>(ApiModule.forProcess(config, log), adapter, {
  bodyParser: false,
  logger: nestLogger(log),
  forceCloseConnections: false,
});
requireDeclared(routesOf(app));
const metrics = app.get<Registry>(METRICS);
adapter.measure(metrics);
if (config.METRICS_PORT !== undefined) app.use(measureRequests(metrics));
measureDisk(config, metrics);
const [trail, clock] = [app.get(AuditTrail), app.get<Clock>(CLOCK)];
app.use(auditRequests(trail, clock, AUDITED));
configureHttp(app, config, log, { admit: limitAddresses(config) });
serveSite(app);
servePortal(app, config, log);
await telemetry.serve(metrics, config);
await app.listen(config.PORT, config.HOST);

const server = app.getHttpServer();
const stopping = new AbortController();
const time = app.get(TrustedTime);
const parts = { pool: app.get<Pool>(POSTGRES), store: app.get<EventStore>(EVENT_STORE), time };
const loops = [watchTime(time), heartbeat('api', parts)].map((loop) => loop.run(stopping.signal));
const stop = stopWhenTold(log, process.env, async () => {
  stopping.abort();
  // Idle keep-alive connections close at once, busy ones after their answer, and all of them after the drain time.
  const drained = setTimeout(() => server.closeAllConnections(), DRAIN_WITHIN_MS);
  server.closeIdleConnections();
  await Promise.allSettled(loops);
  await app.close();
  clearTimeout(drained);
  await telemetry.stop();
});
/** Long enough for a probe to see it first (ms). */
const PROBED_WITHIN_MS = 30_000;
endBeyondHelp(app.get<StoreConnection>(EVENT_STORE_CONNECTION), PROBED_WITHIN_MS)
  .run(stopping.signal)
  .catch((error: unknown) => {
    log.fatal({ err: error }, 'this process cannot help itself');
    stop('this process cannot reach the event store', 1);
  });
announce({ event: 'listening', host: config.HOST, port: (server.address() as AddressInfo).port });
