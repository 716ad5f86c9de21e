import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { ReadingMetrics } from './reading-metrics.js';

/** The metrics after these events were handled. @param livemode of the reading's row */
const metricsAfter = async (events: readonly unknown[], livemode = true): Promise<string> => {
  const handled: ((events: readonly StoredEvent[]) => void)[] = [];
  const registry = new Registry();
  const work = { onHandled: (_: string, listener: (typeof handled)[number]) => handled.push(listener) };
  const rows = [{ reading_id: '7f9c', created_at: new Date('2026-01-02T03:03:05.006Z'), livemode }];
  const pool = { query: async () => ({ rows }) };
  const log = { debug: () => undefined };
  new ReadingMetrics(work as never, pool as never, registry, log).onModuleInit();
  for (const listener of handled) listener(events as StoredEvent[]);
  await new Promise((resolve) => setImmediate(resolve));
  return registry.metrics();
};

const published = (version: number) =>
  recorded('publication-7f9c', { type: 'DocumentPublished', data: { version } });
const failed = (livemode: boolean) =>
  recorded('reading-7f9c', {
    type: 'ReadingFailed',
    data: { workspaceId: 'ws_1', livemode, code: 'generation_failed', attempts: 1, reservationId: 'r' },
  });

it('the time to publication is that of the first version', async () => {
  const metrics = await metricsAfter([failed(true), published(1), published(2), published(3)]);
  expect(metrics).toContain('readings_failed_total{mode="live",code="generation_failed"} 1\n');
  expect(metrics).toContain('reading_publication_duration_seconds_count{mode="live"} 1\n');
});

it('test readings, which fail and take long when asked to, are counted apart', async () => {
  const metrics = await metricsAfter([failed(false), published(1)], false);
  expect(metrics).toContain('readings_failed_total{mode="test",code="generation_failed"} 1\n');
  expect(metrics).toContain('readings_failed_total{mode="live",code="generation_failed"} 0\n');
  expect(metrics).toContain('reading_publication_duration_seconds_count{mode="test"} 1\n');
  expect(metrics).toContain('reading_publication_duration_seconds_count{mode="live"} 0\n');
});
