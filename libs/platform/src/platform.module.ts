import { Global, Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { steadyClock, systemClock } from '#event-sourcing/core/clock.js';
import { withSetAside } from '#event-sourcing/projections/set-aside.js';
import { EVENT_STORE, EVENT_STORE_CONNECTION, type EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore, type EventStoreDb } from '#event-sourcing/store/eventstoredb.js';
import { AuditRecords } from './audit/audit-records.js';
import { AuditTrail } from './audit/audit-trail.js';
import { AddressLimiter, RATE_POLICIES } from './rate-limit/rate-limit.guard.js';
import { ratePolicies, RateLimiter } from './rate-limit/rate-limiter.js';
import { TrustedTime } from './time/trusted-time.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK, TRUSTED_CLOCK } from './tokens.js';
import { eventStoreOptions } from './config/event-store-options.js';
import type { Config } from './config/settings.js';
import { DiskReserve } from './disk/disk-reserve.js';
import { Digester } from './crypto/digest.js';
import { EpochKeys, openEpochKeys } from './crypto/epochs/epoch-keys.js';
import { installationOf } from './crypto/installation.js';
import { KeyRing } from './crypto/key-ring.js';
import { SubjectKeys } from './crypto/subject-keys.js';
import { POSTGRES, openPool } from './postgres/pool.js';
import {
  METRICS,
  createMetrics,
  measureClock,
  measuredEventStore,
  measurePool,
  measureStoreConnection,
} from './telemetry/metrics.js';

/** Private to this module; others see the port and the state of the connection. */
const EVENT_STORE_DB = Symbol('EventStoreDb');

/** Connections, keys and clock of one process, available to every module. */
@Global()
@Module({})
export class PlatformModule implements OnApplicationShutdown {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(EVENT_STORE_DB) private readonly store: EventStoreDb,
    private readonly audit: AuditTrail,
  ) {}

  static forProcess(config: Config, log: Logger): DynamicModule {
    const role = String(log.bindings()['name'] ?? '');
    const pool = openPool(config.DATABASE_URL, {
      connectTimeoutMs: config.DATABASE_QUERY_TIMEOUT_MS,
      size: config.DATABASE_POOL_SIZE,
      queryTimeoutMs: config.DATABASE_QUERY_TIMEOUT_MS,
      applicationName: `reading-service ${role}`.trim(),
      installation: { name: installationOf(config), isNoted: true },
      onError: (error) => log.warn({ reason: error.message }, 'a database connection was lost'),
    });
    const metrics = createMetrics(role, config.METRICS_PORT !== undefined);
    measurePool(pool, metrics);
    const audit = new AuditTrail(new AuditRecords(pool), systemClock, log, metrics);
    const ring = new KeyRing(config.ENCRYPTION_KEYS);
    const epochKeys = openEpochKeys(pool, ring, config);
    const providers = [
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: log },
      { provide: METRICS, useValue: metrics },
      { provide: CLOCK, useValue: systemClock },
      { provide: DiskReserve, useValue: new DiskReserve(config) },
      { provide: STEADY_CLOCK, useValue: steadyClock },
      { provide: POSTGRES, useValue: pool },
      {
        provide: EVENT_STORE_DB,
        useFactory: () =>
          openEventStore({
            ...eventStoreOptions(config),
            report: (message, isWell) => log[isWell ? 'warn' : 'error'](message),
          }),
      },
      {
        provide: EVENT_STORE,
        inject: [EVENT_STORE_DB],
        useFactory: (store: EventStoreDb) =>
          withSetAside(config.METRICS_PORT === undefined ? store : measuredEventStore(store, metrics)),
      },
      {
        provide: EVENT_STORE_CONNECTION,
        inject: [EVENT_STORE_DB],
        useFactory: ({ connection }: EventStoreDb) => {
          measureStoreConnection(connection, metrics);
          return connection;
        },
      },
      {
        provide: TrustedTime,
        inject: [EVENT_STORE],
        useFactory: (store: EventStore) => {
          const time = new TrustedTime({ pool, store, clock: systemClock, config, log });
          measureClock(time, metrics);
          return time;
        },
      },
      { provide: TRUSTED_CLOCK, useExisting: TrustedTime },
      { provide: KeyRing, useValue: ring },
      { provide: EpochKeys, useValue: epochKeys },
      { provide: Digester, useValue: new Digester(config.DIGEST_KEY) },
      { provide: SubjectKeys, useValue: new SubjectKeys(pool, epochKeys) },
      { provide: AuditTrail, useValue: audit },
      { provide: RATE_POLICIES, useValue: ratePolicies(config) },
      AddressLimiter,
      { provide: RateLimiter, useValue: new RateLimiter(pool) },
    ];
    return {
      module: PlatformModule,
      imports: [CqrsModule.forRoot()],
      providers,
      exports: [
        ...providers.map((provider) => ('provide' in provider ? provider.provide : provider)),
        CqrsModule,
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.audit.stop();
    await Promise.allSettled([this.pool.end(), this.store.close()]);
  }
}
