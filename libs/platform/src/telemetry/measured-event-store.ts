import { Counter, Histogram, type Registry } from 'prom-client';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { StoreUnavailable, WrongExpectedRevision } from '#event-sourcing/store/errors.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Measures the store's appends: their duration, and how often they are retried. */
export const measuredEventStore = (store: EventStore, registry: Registry): EventStore => {
  const seconds = new Histogram({
    name: 'event_store_append_duration_seconds',
    help: 'Time of one append, successful or not',
    labelNames: ['category', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  });
  const retries = new Counter({
    name: 'event_store_append_retries_total',
    help: 'Appends decided again after a conflict, or repeated because their outcome was unknown',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['conflict', 'unknown']) retries.inc({ reason }, 0);
  const append: EventStore['append'] = async (stream, expected, events) => {
    const category = categoryOf(stream);
    const stop = seconds.startTimer({ category });
    try {
      const result = await store.append(stream, expected, events);
      stop({ outcome: 'appended' });
      return result;
    } catch (error) {
      const outcome = outcomeOf(error);
      stop({ outcome });
      if (outcome === 'conflict' || outcome === 'unknown') retries.inc({ reason: outcome });
      throw error;
    }
  };
  return {
    append,
    read: (stream, options) => store.read(stream, options),
    readAll: (options) => store.readAll(options),
    subscribe: (options) => store.subscribe(options),
    head: () => store.head(),
    end: () => store.end(),
    serverTime: () => store.serverTime(),
    close: () => store.close(),
  };
};

const outcomeOf = (error: unknown): 'conflict' | 'unknown' | 'unavailable' | 'error' => {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  if (error instanceof StoreUnavailable) return error.outcomeUnknown ? 'unknown' : 'unavailable';
  return 'error';
};
