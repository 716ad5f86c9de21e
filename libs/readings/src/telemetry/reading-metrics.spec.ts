import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { recorded } from '@app/event-sourcing/testing/recorded.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { ReadingMetrics } from './reading-metrics.js';

it('the time to publication is that of the first version', async () => {
  const handled: ((events: readonly StoredEvent[]) => void)[] = [];
  const registry = new Registry();
  const work = { onHandled: (_: string, listener: (typeof handled)[number]) => handled.push(listener) };
  const rows = [{ reading_id: '7f9c', created_at: new Date('2026-09-29T08:00:00.000Z') }];
  const pool = { query: async () => ({ rows }) };
  const log = { debug: () => undefined };
  new ReadingMetrics(work as never, pool as never, registry, log).onModuleInit();
  const published = (version: number) =>
    recorded('publication-7f9c', { type: 'DocumentPublished', data: { version } }) as unknown as StoredEvent;
  for (const listener of handled) listener([published(1), published(2), published(3)]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await registry.metrics()).toContain('reading_publication_duration_seconds_count 1\n');
});
