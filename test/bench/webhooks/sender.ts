/**
 * The sender, in a separate process:
 *   worker DATABASE_URL          a dispatcher, as a worker process runs it
 *   bare URL SECONDS CONCURRENCY the floor: the same HTTP client posting the same body in a loop; prints posts per
 *                                second and the CPU time of each, in milliseconds
 */
import { Agent, request } from 'node:http';
import { pino } from 'pino';
import { systemClock } from '#event-sourcing/core/clock.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { loadConfig } from '#platform/config/load-config.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { openPool } from '#platform/postgres/pool.js';
import { EndpointStreams } from '#webhooks/application/endpoint-streams.js';
import { resolveHost } from '#webhooks/processes/dispatch/sender.js';
import { AnswerVault, HeaderVault, SecretVault } from '#webhooks/application/vaults.js';
import { Dispatcher } from '#webhooks/processes/dispatch/dispatcher.js';
import { settings } from '../../../apps/service/src/settings.js';
import { eventBody, settingsFor } from './deliveries.js';

/** Settings of webhooks that a measurement changes. */
const given = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('WEBHOOK_')));

const work = async (databaseUrl: string): Promise<void> => {
  const config = loadConfig(settings, { ...settingsFor(databaseUrl), ...given });
  const pool = openPool(databaseUrl, {
    size: config.DATABASE_POOL_SIZE,
    applicationName: 'bench',
    onError: () => undefined,
  });
  const store = new InMemoryEventStore();
  const dispatcher = new Dispatcher({
    pool,
    config,
    clock: systemClock,
    resolve: resolveHost,
    vault: new SecretVault(pool, new KeyRing(config.ENCRYPTION_KEYS)),
    answers: new AnswerVault(new SubjectKeys(pool, new KeyRing(config.ENCRYPTION_KEYS))),
    headers: new HeaderVault(pool, new KeyRing(config.ENCRYPTION_KEYS)),
    streams: new EndpointStreams(store, systemClock),
    queryBus: { execute: () => Promise.reject(new Error('no event shows an external id')) },
    log: pino({ level: 'warn' }, process.stderr),
  });
  const stopping = new AbortController();
  process.once('SIGTERM', () => stopping.abort());
  process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
  await dispatcher.run(stopping.signal);
  process.exit(0);
};

const post = async (url: URL, seconds: number, concurrency: number): Promise<void> => {
  const agent = new Agent({ keepAlive: true });
  const body = Buffer.from(
    eventBody('evt_bare', '00000000-0000-4000-8000-000000000000', new Date().toISOString()),
  );
  const begun = process.cpuUsage();
  const endsAt = performance.now() + seconds * 1_000;
  let posted = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < endsAt) {
        await new Promise((resolve, reject) => {
          const headers = { 'content-type': 'application/json', 'content-length': body.length };
          request(url, { method: 'POST', agent, headers }, (answer) => answer.resume().once('end', resolve))
            .once('error', reject)
            .end(body);
        });
        posted += 1;
      }
    }),
  );
  const { user, system } = process.cpuUsage(begun);
  const cpuMs = (user + system) / 1_000 / posted;
  process.stdout.write(`${JSON.stringify({ perSecond: posted / seconds, cpuMs })}\n`);
  process.exit(0);
};

const [mode, target = '', seconds, concurrency] = process.argv.slice(2);
process.stdin.on('end', () => process.exit(1)).resume();
if (mode === 'bare') await post(new URL(target), Number(seconds), Number(concurrency));
else await work(target);
