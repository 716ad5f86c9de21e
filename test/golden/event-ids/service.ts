import { createHash } from 'node:crypto';
import { SealBroken } from '#platform/crypto/sealing.js';
import { type SubjectKey, SubjectKeys } from '#platform/crypto/subject-keys.js';
import { Global, Module, type INestApplicationContext } from '@nestjs/common';
import { CommandBus, CqrsModule, type Command } from '@nestjs/cqrs';
import { Test } from '@nestjs/testing';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { Settlements } from '#billing/application/reservations.js';
import { BillingModule } from '#billing/billing.module.js';
import { bookOpening, settlement } from '#billing/processes.js';
import { processConsumer } from '#event-sourcing/processes/process.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { loadConfig } from '#platform/config/load-config.js';
import { Digester } from '#platform/crypto/digest.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK, TRUSTED_CLOCK } from '#platform/tokens.js';
import {
  PDF_RENDERER,
  PublishDocumentJob,
  RenderAttempts,
} from '#publishing/application/publish-document.job.js';
import { PublishingModule } from '#publishing/publishing.module.js';
import {
  type CalculationRequest,
  GenerateReadingJob,
  ReadingTimers,
  THEME_CALCULATOR,
} from '#readings/application/generate-reading.js';
import { erasureProcess } from '#publishing/processes.js';
import { ReadingsModule } from '#readings/readings.module.js';
import { RequestedDeliveries } from '#webhooks/http/deliveries.js';
import { WebhooksModule } from '#webhooks/webhooks.module.js';
import { WorkspacesModule } from '#workspaces/workspaces.module.js';
import { settings } from '../../../apps/service/src/settings.js';

/** A key without encryption. Sealed data names its key and its place in clear. */
const plainKey = (serial: number): SubjectKey => ({
  seal: (context, bytes) => Buffer.concat([prefix(serial, context), bytes]),
  open: (context, sealed) => {
    const begin = prefix(serial, context);
    if (!Buffer.from(sealed).subarray(0, begin.length).equals(begin)) throw new SealBroken('another key');
    return Buffer.from(sealed.subarray(begin.length));
  },
  digest: (_, bytes) => createHash('sha256').update(bytes).digest(),
});

const prefix = (serial: number, context: string): Buffer => Buffer.from(`${serial} ${context}:`);

const KEY = Buffer.alloc(32, 7).toString('base64');
const config = loadConfig(settings, {
  // The scenario sets timers off a second later.
  READING_DELAYED_AFTER_MS: '1',
  READING_TIMEOUT_MS: '1',
  DATABASE_URL: 'postgresql://nowhere/nothing',
  EVENTSTORE_URL: 'esdb://nowhere:1?tls=false',
  ENCRYPTION_KEYS: `k1:${KEY}`,
  DIGEST_KEY: KEY,
  WEBHOOK_ALLOW_CIDRS: '192.0.2.0/24',
});

/** A database without rows that accepts every statement. Stored events do not depend on it. */
const poolWithoutRows = () => {
  const query = async (asked: string | { text: string; values?: unknown[] }, given: unknown[] = []) => {
    const { text, values = [] } = typeof asked === 'string' ? { text: asked, values: given } : asked;
    if (text.includes('json_populate_record')) return { rows: [endpointIn(values)], rowCount: 1 };
    if (text.includes('insert into publishing.artifact')) return { rows: artifactsIn(values), rowCount: 3 };
    // A new key is known at once.
    if (text.includes('from workspaces.api_key')) return { rows: [{ networks: [] }], rowCount: 1 };
    if (/as (taken|skipped)/.test(text)) return { rows: [{ taken: 0, skipped: 0 }], rowCount: 1 };
    return { rows: [], rowCount: text.includes('revision >= $2') ? 1 : 0 };
  };
  return { query, connect: async () => ({ query, release: () => undefined }) } as unknown as Pool;
};

const endpointIn = ([json]: readonly unknown[]) => {
  const row = JSON.parse(String(json)) as Record<string, unknown>;
  return {
    endpointId: row.endpoint_id,
    workspaceId: row.workspace_id,
    url: row.url,
    events: row.events,
    modes: row.modes,
    notices: row.notices,
    enabled: row.enabled,
    description: row.description,
    headerNames: [],
    maxPerSecond: row.max_per_second,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    secretHint: '',
    revision: row.revision,
    deleted: row.deleted_at !== null,
    verified: row.verified,
    disabledReason: row.disabled_reason,
    failingSince: null,
    consecutiveFailures: 0,
  };
};

const artifactsIn = (values: readonly unknown[]) =>
  [4, 9, 14].map((at) => ({
    format: values[at],
    mediaType: values[at + 1],
    digest: values[at + 2],
    bytes: values[at + 3],
    contentVersion: values[3],
  }));

const keysInMemory = () => {
  const keys = new Map<string, ReturnType<typeof plainKey>>();
  return {
    ready: async () => undefined,
    create: async (id: string) => keys.set(id, plainKey(1)).get(id)!,
    find: async (id: string) => keys.get(id) ?? null,
    destroy: async (id: string) => void keys.delete(id),
  };
};

/** The service's modules with an event store in memory, a fixed clock and a calculation that fails on demand. */
export const startService = async () => {
  const store = new InMemoryEventStore();
  const clock = { at: Date.parse('2026-09-29T12:00:00.000Z'), now: () => clock.at };
  const calculation: { failure: Error | null } = { failure: null };
  const calculate = ({ readingId, asOf }: CalculationRequest): Buffer => {
    if (calculation.failure) throw calculation.failure;
    return Buffer.from(JSON.stringify({ readingId, asOf }));
  };
  const providers = [
    { provide: CONFIG, useValue: config },
    { provide: CLOCK, useValue: clock },
    { provide: TRUSTED_CLOCK, useValue: clock },
    { provide: STEADY_CLOCK, useValue: clock },
    { provide: EVENT_STORE, useValue: store },
    { provide: POSTGRES, useValue: poolWithoutRows() },
    { provide: LOGGER, useValue: pino({ level: 'silent' }) },
    { provide: KeyRing, useValue: new KeyRing(config.ENCRYPTION_KEYS) },
    { provide: Digester, useValue: new Digester(KEY) },
    { provide: SubjectKeys, useValue: keysInMemory() },
    { provide: THEME_CALCULATOR, useValue: calculate },
    { provide: PDF_RENDERER, useValue: { render: async () => Buffer.from('%PDF') } },
  ];
  @Global()
  @Module({
    imports: [CqrsModule.forRoot()],
    providers,
    exports: [CqrsModule, ...providers.map(({ provide }) => provide)],
  })
  class FixedPlatform {}

  @Module({
    imports: [
      FixedPlatform,
      WorkspacesModule,
      BillingModule,
      ReadingsModule,
      PublishingModule,
      WebhooksModule,
    ],
    providers: [
      GenerateReadingJob,
      ReadingTimers,
      PublishDocumentJob,
      RenderAttempts,
      RequestedDeliveries,
      Settlements,
    ],
  })
  class Service {}

  const testing = await Test.createTestingModule({ imports: [Service] }).compile();
  const nest: INestApplicationContext = await testing.init();
  const commands = nest.get(CommandBus);
  const dispatch = (command: Command<unknown>) => commands.execute(command);
  const consumers = [
    processConsumer(bookOpening, dispatch),
    processConsumer(settlement, (end) => nest.get(Settlements).settle(end)),
    processConsumer(erasureProcess, dispatch),
  ];
  let seen = 0;
  return {
    nest,
    store,
    clock,
    calculation,
    commands,
    /** Runs the processes on all newly stored events until they send no more commands. */
    settle: async (): Promise<void> => {
      while (seen < store.log.length) {
        const event = store.log[seen]!;
        seen += 1;
        for (const consumer of consumers)
          if (consumer.categories.some((category) => event.stream.startsWith(`${category}-`)))
            await consumer.dispatch?.([event]);
      }
    },
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;
