import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { MODES, requestedBy, type Mode } from '#event-sourcing/core/request-context.js';
import { systemClock, type Clock } from '#event-sourcing/core/clock.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { runConsumer } from '#event-sourcing/projections/runner.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { loadConfig } from '#platform/config/load-config.js';
import { settings as platform } from '#platform/config/settings.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { AsksForRefusal, type GetExternalId } from '#readings/contracts/index.js';
import type { CreatedWebhookEndpoint } from '../src/contracts/index.js';
import { AnswerVault, HeaderVault, SecretVault } from '../src/application/vaults.js';
import { Endpoints, EndpointStreams } from '../src/application/endpoints.js';
import { resolveHost, type ResolveHost } from '../src/processes/dispatch/sender.js';
import { Dispatcher } from '../src/processes/dispatch/dispatcher.js';
import { fanOutConsumer } from '../src/processes/fan-out.consumer.js';
import { skipNoted } from '../src/processes/skip-pending.js';
import { findEndpoint } from '../src/read-models/endpoints.js';
import { PATIENT } from '../../../test/support/patience.js';
import type { TestDatabase } from './postgres.js';
import { eventually } from './receiver.js';
import { settings, type Config } from '../src/settings.js';
import { ALL_DELIVERIES, ATTEMPTS } from '../src/read-models/delivery-sql.js';

export interface ServiceOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly resolve?: ResolveHost;
  readonly workers?: number;
  /** Default: that of a worker. */
  readonly concurrency?: { readonly perEndpoint: number; readonly perWorkspace: number };
  /** How long an endpoint may fail (ms). Default: as in a worker. */
  readonly disableAfterMs?: number;
  /** Source of endpoints when another part of the test follows the log. */
  readonly store?: InMemoryEventStore;
  /** The external id of every reading that has one, when it is asked for. */
  readonly externalId?: (readingId: string) => string | null;
}

const key = Buffer.alloc(32, 1).toString('base64');
const quiet = pino({ level: 'silent' });

export const testConfig = (database: TestDatabase, given: Readonly<Record<string, string>> = {}): Config =>
  loadConfig(platform.safeExtend(settings), {
    DATABASE_URL: database.url,
    EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    ENCRYPTION_KEYS: `k1:${key}`,
    DIGEST_KEY: key,
    WEBHOOK_ALLOW_HTTP: '1',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_RETRY_SCHEDULE_MS: '0,50,50,50',
    ...PATIENT,
    // Likewise: such a pause is no failure of a receiver, and ends no lease.
    WEBHOOK_ATTEMPT_TIMEOUT_MS: '60000',
    ...given,
  });

const OWNER = { workspaceId: 'ws_1', sees: MODES };

/** The module's parts on a real database and an in-memory event store, as a worker runs them. */
export class TestService {
  readonly store: InMemoryEventStore;
  readonly streams: EndpointStreams;
  readonly vault: SecretVault;
  readonly headers: HeaderVault;
  readonly keys: SubjectKeys;
  readonly answers: AnswerVault;
  private readonly stopped = new AbortController();
  private readonly running: Promise<unknown>[] = [];

  constructor(
    private readonly database: TestDatabase,
    private readonly options: ServiceOptions = {},
  ) {
    this.store = options.store ?? new InMemoryEventStore();
    this.streams = new EndpointStreams(this.store, this.clock);
    const ring = new KeyRing(this.config.ENCRYPTION_KEYS);
    this.vault = new SecretVault(database.pool, ring);
    this.headers = new HeaderVault(database.pool, ring);
    this.keys = new SubjectKeys(database.pool, ring);
    this.answers = new AnswerVault(this.keys);
  }

  readonly rows = { find: (endpointId: string) => findEndpoint(this.database.pool, endpointId) };

  get clock(): Clock {
    return this.options.clock ?? systemClock;
  }

  get config(): Config {
    return testConfig(this.database, this.options.settings);
  }

  /** Follows the log, sends due deliveries and skips noted ones, until `stop`. */
  start(): this {
    this.follow();
    this.dispatch();
    this.running.push(skipNoted(this.database.pool, quiet).run(this.stopped.signal));
    return this;
  }

  follow(): void {
    const { store, stopped } = this;
    const { pool } = this.database;
    this.running.push(runConsumer(fanOutConsumer(0), { store, pool, log: quiet }, stopped.signal));
  }

  dispatch(): void {
    const { config, clock, vault, answers, headers, streams, stopped } = this;
    const { pool } = this.database;
    const { resolve = resolveHost, concurrency, disableAfterMs } = this.options;
    for (let worker = 0; worker < (this.options.workers ?? 1); worker += 1) {
      const queryBus = {
        execute: async (query: object) =>
          (query instanceof AsksForRefusal
            ? false
            : (this.options.externalId?.((query as GetExternalId).readingId) ?? null)) as never,
      };
      const dispatcher = new Dispatcher({
        pool,
        config,
        clock,
        resolve,
        vault,
        answers,
        headers,
        streams,
        queryBus,
        log: quiet,
        connectTimeoutMs: 60_000,
        ...(concurrency && { concurrency }),
        ...(disableAfterMs !== undefined && { disableAfterMs }),
      });
      this.running.push(dispatcher.run(stopped.signal));
    }
  }

  /** Wakes the dispatchers and gives them time to read the current clock. */
  async idle(): Promise<void> {
    await this.database.pool.query(`select pg_notify('webhooks_due', '')`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }

  /** Skips the noted deliveries, as a worker does, until none is left. */
  async skip(): Promise<void> {
    const { pool } = this.database;
    const stopping = new AbortController();
    const loop = skipNoted(pool, quiet).run(stopping.signal);
    await eventually(async () => (await pool.query('select from webhooks.skipping')).rowCount === 0);
    stopping.abort();
    await loop;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all(this.running);
  }

  async create(
    url: string,
    { modes = ['live'], workspaceId = 'ws_1' }: { modes?: readonly Mode[]; workspaceId?: string } = {},
  ): Promise<CreatedWebhookEndpoint> {
    const by = requestedBy('apiKey:test', 'req_test');
    const result = await this.commands.create({ workspaceId }, { url, events: null, modes }, by);
    if (result.outcome !== 'created') throw new Error(result.outcome);
    return result.endpoint;
  }

  async delete(endpointId: string): Promise<void> {
    const by = requestedBy('apiKey:test', `req_${randomUUID()}`);
    const result = await this.commands.delete(endpointId, OWNER, null, by);
    if (result.outcome !== 'deleted') throw new Error(result.outcome);
  }

  async rotate(endpointId: string, overlapSeconds: number) {
    const by = requestedBy('apiKey:test', `req_${randomUUID()}`);
    const result = await this.commands.rotate(endpointId, OWNER, overlapSeconds, by);
    if (result.outcome !== 'rotated') throw new Error(result.outcome);
    return result;
  }

  private get commands(): Endpoints {
    const { streams, vault, headers, config, clock } = this;
    return new Endpoints(streams, vault, headers, this.database.pool, config, clock);
  }

  /** Appends events of other modules as if those modules had appended them. */
  async happen(...events: readonly StoredEvent[]): Promise<void> {
    for (const { id, stream, type, data, metadata } of events) {
      const length = this.store.log.filter((known) => known.stream === stream).length;
      await this.store.append(stream, length === 0 ? 'no_stream' : BigInt(length - 1), [
        { id, type, data, metadata },
      ]);
    }
  }

  async deliveries(): Promise<
    readonly { delivery_id: string; status: string; attempts: number; sequence: number }[]
  > {
    const { rows } = await this.database.pool.query<never>(
      `select delivery_id, status, attempts, sequence
       from ${ALL_DELIVERIES} join webhooks.public_event using (event_id) order by created_at, sequence`,
    );
    return rows;
  }

  async attempts(): Promise<readonly { number: number; status_code: number | null; error: string | null }[]> {
    const { rows } = await this.database.pool.query<never>(
      `select number, attempt.status_code, attempt.error
       from ${ALL_DELIVERIES} cross join lateral (${ATTEMPTS}) attempt order by delivery_id, number`,
    );
    return rows;
  }
}

/** Deletes all data between two tests. */
export const wipe = (database: TestDatabase): Promise<unknown> =>
  database.pool.query(
    `truncate webhooks.endpoint, webhooks.endpoint_health, webhooks.public_event, webhooks.delivery, webhooks.attempt,
       webhooks.settled_delivery,
       webhooks.secret, webhooks.replay, webhooks.workspace_lease, webhooks.unreleased_failure, webhooks.skipping, webhooks.notice,
       webhooks.endpoint_headers, webhooks.verification, webhooks.probe_rest, webhooks.endpoint_hour, webhooks.deleted_past,
       webhooks.last_sequence, webhooks.content, platform.retention_round,
       event_sourcing.consumer, event_sourcing.parked_stream`,
  );
