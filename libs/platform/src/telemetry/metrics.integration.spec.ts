import { describe, expect, it } from '@jest/globals';
import { createMetrics, serveMetrics } from './metrics.js';
import { scrapedGauges } from './scraped-gauges.js';

const QUEUE = { queue_age_seconds: { help: 'age' }, queue_length: { help: 'length', labelNames: ['task'] } };

describe('metrics', () => {
  it('are the only thing served on their port, and not served without one', async () => {
    expect(await serveMetrics(createMetrics('api', true), { METRICS_HOST: '127.0.0.1' })).toBeNull();
    const server = await serveMetrics(createMetrics('api', true), {
      METRICS_PORT: 0,
      METRICS_HOST: '127.0.0.1',
    });
    const base = `http://127.0.0.1:${server!.port}`;
    const answer = await fetch(`${base}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toContain('process_cpu_seconds_total{role="api"}');
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(404);
    await server!.close();
  });
});

describe('gauges that are read when scraped', () => {
  it('share one read, and distinguish zero from no value', async () => {
    const registry = createMetrics('worker', false);
    let reads = 0;
    scrapedGauges(registry, 'queue', QUEUE, async () => {
      reads += 1;
      return { queue_length: [{ labels: { task: 'a' }, value: 0 }] };
    });
    const text = await registry.metrics();
    await registry.metrics();
    expect(reads).toBe(1);
    expect(text).toContain('queue_length{task="a",role="worker"} 0');
    expect(text).not.toMatch(/^queue_age_seconds\{/m);
  });

  it('are omitted and counted when they cannot be read, and the others are reported', async () => {
    const registry = createMetrics('worker', false);
    scrapedGauges(registry, 'queue', QUEUE, () => Promise.reject(new Error('away')));
    scrapedGauges(registry, 'ledger', { books: { help: 'books' } }, async () => ({ books: [{ value: 3 }] }));
    await registry.metrics();
    const text = await registry.metrics();
    expect(text).not.toMatch(/^queue_/m);
    expect(text).toContain('books{role="worker"} 3');
    expect(text).toContain('metrics_read_failures_total{read="queue",role="worker"} 1');
  });
});
