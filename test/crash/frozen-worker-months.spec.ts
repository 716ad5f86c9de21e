import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { programPath } from '#platform/program-path.js';
import { projectPath } from '#platform/project-path.js';
import { removeDataFolder } from '../support/data-dir.js';
import { Integrator, person, until } from '../support/integrator.js';
import { preparedDataDir } from '../support/prepared-data-dir.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { startStores, type StartedProcess, type StartedStores } from '../support/start-processes.js';

const MONTHS = rounds(2, 50);
const SEED = seedOr(20261120);

const run = promisify(execFile);

/** Both stores and all processes share one clock, which the test sets forward. A frozen process misses that. */
describe(`workers that freeze while a month ends (${again('frozen-worker-months', MONTHS, SEED)})`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'frozen-months-'));
  const shift = join(folder, 'shift');
  let stores: StartedStores;
  let pool: pg.Pool;
  let store: EventStore;
  let customer: Integrator;
  let baseUrl: string;
  const started: StartedProcess[] = [];
  const workers: StartedProcess[] = [];
  let shiftMs = 0;

  const preloaded = (): Record<string, string> => ({
    SHIFTED_CLOCK_FILE: shift,
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${pathToFileURL(projectPath('test/support/shifted-clock.mjs')).href}`,
  });
  const setClock = async (now: number): Promise<void> => {
    shiftMs = now - Date.now();
    writeFileSync(shift, String(shiftMs));
    await pool.query('update shifted.by set ms = $1', [shiftMs]);
  };
  /** PostgreSQL's functions that tell the time, for all sessions that begin from now on. */
  const shiftPostgres = async (): Promise<void> => {
    await pool.query(`create schema shifted; grant usage on schema shifted to public;
      create table shifted.by (ms float8 not null); grant select on shifted.by to public; insert into shifted.by values (0)`);
    for (const name of ['now', 'clock_timestamp'])
      await pool.query(`create function shifted.${name}() returns timestamptz language sql volatile
        as $$ select pg_catalog.${name}() + make_interval(secs => ms / 1000) from shifted.by $$`);
    await pool.query(
      `alter database ${new URL(stores.databaseUrl).pathname.slice(1)} set search_path = shifted, public, pg_catalog`,
    );
  };
  /** Noon of the next tenth. The month has ended by then, and the plan's month as well, which began on a tenth. */
  const nextTenth = (): number => {
    const now = new Date(Date.now() + shiftMs);
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 10, 12);
  };
  /** In a process of its own: the one that specs share has another clock. */
  const ops = async (args: readonly string[]): Promise<unknown> => {
    const env = { ...stores.environment, ...preloaded() };
    const { stdout } = await run(process.execPath, [programPath('ops'), ...args, '--json'], { env });
    return JSON.parse(stdout) as unknown;
  };
  const typesOf = async (stream: string): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { type } of store.read(stream)) types.push(type);
    return types;
  };
  const book = () => typesOf(`credits-${customer.workspaceId}`);
  const signal = (all: readonly StartedProcess[], name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const { pid } of all) process.kill(pid, name);
  };

  beforeAll(async () => {
    writeFileSync(shift, '0');
    // What specs share must not get the clock of this one.
    removeDataFolder(await preparedDataDir());
    const before = { ...process.env };
    Object.assign(process.env, preloaded());
    try {
      stores = await startStores({
        LOG_LEVEL: 'fatal',
        RESERVATION_FENCE_MS: '4000',
      });
    } finally {
      delete process.env['SHIFTED_CLOCK_FILE'];
      Object.assign(process.env, before);
      if (before['NODE_OPTIONS'] === undefined) delete process.env['NODE_OPTIONS'];
    }
    pool = new pg.Pool({ connectionString: stores.databaseUrl, max: 1 });
    store = await openEventStore({
      connectionString: stores.eventStoreUrl,
      appendTimeoutMs: 30_000,
      readTimeoutMs: 30_000,
    });
    await shiftPostgres();
    await setClock(nextTenth());
    const [api, ...both] = await Promise.all([
      stores.start('api', preloaded()),
      stores.start('worker', preloaded()),
      stores.start('worker', preloaded()),
    ]);
    started.push(api, ...both);
    workers.push(...both);
    baseUrl = api.baseUrl;
    customer = await Integrator.open({ baseUrl: api.baseUrl, ops } as never, 0);
    await ops(['plan', 'subscribe', '--workspace', customer.workspaceId, '--plan', 'studio']);
    await until(
      async () => (await customer.call('GET', '/api/v1/credits')).status === 200,
      () => 'the key and the book are known',
    );
  });

  afterAll(async () => {
    signal(workers, 'SIGCONT');
    await Promise.allSettled(started.map((one) => one.stop()));
    await store?.close();
    await pool?.end();
    await stores?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('expire, grant, close and time out once', async () => {
    const random = new Random(SEED);
    const readings: string[] = [];
    for (let month = 1; month <= MONTHS; month += 1) {
      // For some seconds after the clocks were set, the API knows the store's clock from before.
      await until(
        async () => (await fetch(`${baseUrl}/readyz`)).status === 200,
        () => `the API is ready in month ${month}`,
      );
      // In odd months both freeze, so that a reading times out meanwhile; otherwise one does, at a random moment.
      const frozen = month % 2 === 1 ? workers : [workers[random.between(0, 1)]!];
      const freezes = async (): Promise<void> => {
        await delay(frozen.length === 1 ? random.between(0, 400) : 0);
        signal(frozen, 'SIGSTOP');
      };
      const freezing = freezes();
      const { status, body } = await customer.create(person());
      expect(status).toBe(202);
      readings.push(body.readingId);
      await Promise.all([freezing, setClock(nextTenth())]);
      await delay(random.between(200, 800));
      signal(workers, 'SIGCONT');
      await until(
        async () => (await book()).filter((type) => type === 'PlanGranted').length === month + 1,
        () => `the plan of month ${month} is granted`,
      );
      await customer.untilEnded(body.readingId);
    }
    const ends = async () =>
      (await book()).filter((type) => type === 'CreditsCaptured' || type === 'CreditsReleased');
    await until(
      async () => (await ends()).length >= readings.length,
      () => 'every hold ended',
    );
    await delay(500);
    const all = await book();
    const count = (wanted: string): number => all.filter((type) => type === wanted).length;
    expect(await ends()).toHaveLength(readings.length);
    expect({
      granted: count('PlanGranted'),
      closed: count('PeriodClosed'),
      expired: count('GrantExpired'),
    }).toEqual({
      granted: MONTHS + 1,
      closed: MONTHS,
      expired: MONTHS,
    });
    for (const id of readings) {
      const types = await typesOf(`reading-${id}`);
      expect(types.filter((type) => /^Reading(Completed|Failed|Abandoned)$/.test(type))).toHaveLength(1);
    }
    // Fails with findings, such as a date that the store contradicts.
    await ops(['ledger', 'verify', '--workspace', customer.workspaceId]);
  });
});
