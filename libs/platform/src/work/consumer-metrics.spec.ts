import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { measureConsumers } from './consumer-metrics.js';

const HOUR_MS = 3_600_000;
const now = Date.now();

/** A log of this many events, the last of which was recorded an hour ago. */
const logOf = async (count: number): Promise<InMemoryEventStore> => {
  const store = new InMemoryEventStore(() => now - HOUR_MS);
  for (let from = 0; from < count; from += 500) {
    const events = Array.from({ length: Math.min(500, count - from) }, (_, n) => ({
      id: `event-${from + n}`,
      type: 'Happened',
      data: {},
      metadata: {
        correlationId: 'c',
        causationId: 'c',
        workspaceId: 'ws_1',
        actor: 'system:spec',
        occurredAt: new Date(now - HOUR_MS).toISOString(),
        schemaVersion: 1,
      },
    }));
    await store.append('reading-1', from === 0 ? 'no_stream' : BigInt(from - 1), events);
  }
  return store;
};

/** The gauges of consumers at these events of the log, counted from 1. */
const lags = async (count: number, at: Readonly<Record<string, number>>) => {
  const store = await logOf(count);
  const registry = new Registry();
  const rows = Object.entries(at).map(([name, place]) => ({
    name,
    position: String(store.log[place - 1]!.position),
    event_id: null,
    event_place: null,
    halted: false,
    parked: 0,
  }));
  const consumers = rows.map(({ name }) => ({ name, categories: ['reading'] }) as unknown as Consumer);
  measureConsumers({ pool: { query: async () => ({ rows }) } as never, store }, consumers, registry);
  const text = await registry.metrics();
  const of = (metric: string, consumer: string): number =>
    Number(new RegExp(`^${metric}\\{consumer="${consumer}"\\} (.+)$`, 'm').exec(text)?.[1]);
  return (consumer: string) => ({
    events: of('consumer_lag_events', consumer),
    hours: Math.round(of('consumer_lag_seconds', consumer) / 3_600),
  });
};

it('The lag of a consumer is the age of the oldest event that it has not handled', async () => {
  const lag = await lags(10, { behind: 7, ready: 10 });
  expect(lag('behind')).toEqual({ events: 3, hours: 1 });
  expect(lag('ready')).toEqual({ events: 0, hours: 0 });
});

it('A consumer that has halted far behind hides no other one that has stopped', async () => {
  const lag = await lags(6_000, { halted: 1, stopped: 5_000, ready: 6_000 });
  expect(lag('halted')).toEqual({ events: 2_000, hours: 1 });
  expect(lag('stopped')).toEqual({ events: 1_000, hours: 1 });
  expect(lag('ready')).toEqual({ events: 0, hours: 0 });
});
