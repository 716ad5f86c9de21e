import { Module } from '@nestjs/common';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { Test } from '@nestjs/testing';
import type pg from 'pg';
import { Registry } from 'prom-client';
import { eventId } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { runSteps } from '#event-sourcing/projections/statement.js';
import { Digester } from '#platform/crypto/digest.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { CLOCK, CONFIG, LOGGER, TRUSTED_CLOCK } from '#platform/tokens.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { AbandonReading, GetReadingSummary, ReserveCredits } from '#readings/contracts/index.js';
import { OPERATORS } from './operators.js';
import { BillingWorkerModule } from '#billing/billing-worker.module.js';

export const WS = 'ws_0000000000000000000001';
export const BY = { actor: 'operator:ada', correlationId: 'correlation', causationId: 'cause' };
export const START = Date.parse('2026-04-10T12:00:00.000Z');
/** So short that sweeps, four in that time, follow each other at once. */
export const FENCE_MS = 40;
const SETTINGS = {
  RESERVATION_FENCE_MS: FENCE_MS,
  OPERATORS,
};

/** Billing as a worker runs it, over a store in memory and a readings module that answers as the case says. */
export const startWorker = async (pool: pg.Pool, store = new InMemoryEventStore()) => {
  const clock = { time: START, now: () => clock.time };
  const warnings: unknown[] = [];
  const alerts: unknown[] = [];
  const work = new WorkRegistry();
  const globals = [
    { provide: EVENT_STORE, useValue: store },
    { provide: POSTGRES, useValue: pool },
    { provide: Digester, useValue: new Digester(Buffer.alloc(32, 7).toString('base64')) },
    { provide: CLOCK, useValue: clock },
    { provide: TRUSTED_CLOCK, useValue: clock },
    { provide: CONFIG, useValue: SETTINGS },
    {
      provide: LOGGER,
      useValue: {
        warn: (details: unknown) => warnings.push(details),
        error: (details: unknown) => alerts.push(details),
        info: () => undefined,
      },
    },
    { provide: METRICS, useValue: new Registry() },
    { provide: WorkRegistry, useValue: work },
  ];
  @Module({ imports: [CqrsModule.forRoot()], providers: globals, exports: [CqrsModule, ...globals] })
  class Globals {}
  const testing = await Test.createTestingModule({
    imports: [{ module: Globals, global: true }, BillingWorkerModule],
  }).compile();
  const app = await testing.init();
  const commands = app.get(CommandBus);
  const asked: string[] = [];
  const readings = { answer: (_: AbandonReading): 'abandoned' | 'claimed' => 'claimed' };
  const execute = commands.execute.bind(commands);
  commands.execute = (command: object) => {
    if (!(command instanceof AbandonReading)) return execute(command as never);
    asked.push(command.reservationId);
    return Promise.resolve().then(() => ({ outcome: readings.answer(command) }));
  };

  const queries = app.get(QueryBus);
  const ask = queries.execute.bind(queries);
  queries.execute = (query: object) =>
    query instanceof GetReadingSummary ? Promise.resolve({ livemode: true }) : ask(query as never);

  const handled = new Map<Consumer, number>();
  /** Lets every consumer catch up, with each batch delivered the given number of times. */
  const catchUp = async (times = 1) => {
    for (let before = -1; before !== store.log.length;) {
      before = store.log.length;
      for (const consumer of work.consumers) {
        const events = store.log
          .slice(handled.get(consumer) ?? 0)
          .filter(({ stream }) => consumer.categories.some((category) => stream.startsWith(`${category}-`)));
        handled.set(consumer, store.log.length);
        for (let time = 0; time < times; time += 1) {
          await consumer.dispatch?.(events);
          await transaction(pool, (client) => runSteps(client, consumer.steps(events)));
        }
      }
    }
  };
  const publish = async (stream: string, type: string, data: object, version = 1) => {
    const written: StoredEvent[] = [];
    for await (const event of store.read(stream)) written.push(event);
    const metadata = {
      ...BY,
      workspaceId: WS,
      occurredAt: new Date(clock.time).toISOString(),
      schemaVersion: version,
    };
    const id = eventId(stream, type, written.length);
    await store.append(stream, written.at(-1)?.revision ?? 'no_stream', [{ id, type, data, metadata }]);
    return id;
  };
  const reserve = (reservationId: string, livemode = true) => {
    const reservations = [{ reservationId, readingId: `reading-of-${reservationId}` }];
    return commands.execute(new ReserveCredits(WS, { reservations, all: true }, 'theme', livemode, BY));
  };
  if (store.log.length === 0) {
    await publish(`workspace-${WS}`, 'WorkspaceOpened', { workspaceId: WS, name: 'Atelier' });
    await catchUp();
  }
  return { app, store, clock, warnings, alerts, work, commands, readings, asked, catchUp, publish, reserve };
};
