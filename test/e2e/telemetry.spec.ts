import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';
import { Integrator, until } from '../support/integrator.js';
import { twoFreePorts } from './support/free-ports.js';
import { expressionsOf, labelsByMetric, selectorsOf, valueOf } from './support/prometheus.js';
import {
  RECEIVER_SETTINGS,
  startCollector,
  startReceiver,
  startStack,
  type Collector,
  type Receiver,
  type StartedStack,
} from '../support/index.js';

/** Invented words that occur nowhere else. One found in a span or a metric is a leak. */
const CANARIES = ['Qxanthippe', 'Wombatine', 'Zugvogelsson', '1987-03-29', 'nonbinary'];

let stack: StartedStack;
let receiver: Receiver;
let collector: Collector;
let metricsPort: number;
let readingId: string;
let requestId: string;

beforeAll(async () => {
  collector = await startCollector();
  metricsPort = await twoFreePorts();
  stack = await startStack({
    env: {
      ...RECEIVER_SETTINGS,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'debug',
    },
  });
  receiver = await startReceiver();
  const customer = await Integrator.open(stack, 1_000);
  const endpoint = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
  receiver.secret = endpoint.body.signingSecret;
  const body = {
    productId: 'theme',
    profileId: 'evan',
    locale: 'en-US',
    name: { firstNames: ['Qxanthippe'], middleNames: ['Wombatine'], lastNames: ['Zugvogelsson'] },
    dateOfBirth: '1987-03-29',
    grammaticalProfile: { subjectGender: 'nonbinary' },
  };
  const accepted = await customer.create(body, {
    'idempotency-key': 'Qxanthippe-1',
    traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
  });
  readingId = accepted.body.readingId;
  requestId = accepted.headers.get('x-request-id')!;
  await customer.create({ ...body, dateOfBirth: '1987-03-299' });
  await customer.call('GET', `/api/v1/readings/${readingId}?x=Qxanthippe`);
  await customer.untilEnded(readingId);
  const link = await customer.call<{ url: string }>('POST', `/api/v1/readings/${readingId}/document/links`, {
    body: { format: 'pdf' },
  });
  expect((await fetch(link.body.url)).status).toBe(200);
  expect((await fetch(`${link.body.url}x`)).status).toBe(404);
  CANARIES.push(link.body.url.slice(-40));
  await until(
    () => collector.spans.filter(({ name }) => name === 'GET /d/:token').length === 2,
    () => 'the spans of a link',
  );
  await until(
    () => receiver.received.length >= 2 && collector.spans.some(({ name }) => name === 'webhook attempt'),
    () => 'the spans of two webhooks',
  );
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
  await collector?.stop();
});

/** One webhook says that the reading is completed, one that it is published. */
const leastOf = (step: string): number => (step === 'webhook attempt' ? 2 : 1);
const root = () =>
  collector.spans.find(
    ({ name, attributes }) => name === 'POST /api/v1/readings' && attributes['request.id'] === requestId,
  );
/** The spans of the trace that the request started. */
const story = () => collector.spans.filter(({ traceId }) => traceId === root()?.traceId);

const metricsOf = async (role: 'api' | 'worker'): Promise<string> =>
  (await fetch(`http://127.0.0.1:${metricsPort + (role === 'api' ? 0 : 1)}/metrics`)).text();

const STEPS = {
  'reading-service-api': [
    'POST /api/v1/readings',
    'append to credits',
    'append to reading',
    'decide RequestReading',
    'decide ReserveCredits',
  ],
  'reading-service-worker': [
    'append to credits',
    'append to publication',
    'append to reading',
    'decide CaptureCredits',
    'decide CompleteReading',
    'decide RecordPublished',
    'decide RequestPublication',
    'decide StartAttempt',
    'generate the result',
    'job publishing.publish',
    'job readings.generate',
    'process billing.settlement.v1',
    'render the document',
    'webhook attempt',
  ],
};

describe('the trace of a reading', () => {
  it('covers every step from the request to the webhook, across processes', async () => {
    const names = (service: string) =>
      story().flatMap((span) => (span.service === service ? [span.name] : []));
    const missing = () =>
      Object.entries(STEPS).flatMap(([service, steps]) =>
        steps.filter((step) => names(service).filter((name) => name === step).length < leastOf(step)),
      );
    // Settlement, publication and webhooks do not wait for each other.
    await until(
      () => missing().length === 0,
      () => `missing: ${missing().join(', ')}`,
    );
    for (const [service, steps] of Object.entries(STEPS))
      expect([...new Set(names(service))].toSorted()).toEqual(steps);
  });

  it('has one root; every other span has a parent in the trace', () => {
    const ids = new Set(story().map(({ spanId }) => spanId));
    const rootless = story().filter(({ parentSpanId }) => !ids.has(parentSpanId));
    expect(rootless.map(({ name }) => name)).toEqual(['POST /api/v1/readings']);
  });

  it('links to the caller’s trace without joining it: strangers do not decide what is recorded', () => {
    expect(root()?.links).toBe(1);
    expect(root()?.traceId).not.toBe('1'.repeat(32));
  });

  it('records routes, ids and results', () => {
    expect(root()?.attributes).toMatchObject({ 'http.route': '/api/v1/readings' });
    expect(story().find(({ name }) => name === 'job readings.generate')?.attributes['reading.id']).toBe(
      readingId,
    );
    const attempts = story().filter(({ name }) => name === 'webhook attempt');
    expect(attempts.map(({ attributes }) => attributes['webhook.result'])).toEqual([
      'succeeded',
      'succeeded',
    ]);
  });

  it('contains no personal data', () => {
    const everything = Buffer.concat(collector.raw).toString('latin1').toLowerCase();
    expect(collector.spans.length).toBeGreaterThan(20);
    expect(CANARIES.filter((word) => everything.includes(word.toLowerCase()))).toEqual([]);
  });
});

describe('the log', () => {
  const text = () =>
    ['api', 'worker']
      .map((name) => readFileSync(join(stack.dataDir, 'logs', `${name}.log`), 'utf8'))
      .join('');
  const lines = () =>
    text()
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('tells the life of a reading under the id of its request, in both processes', async () => {
    const told = () => lines().filter((line) => line['requestId'] === requestId);
    await until(
      () => told().filter(({ msg }) => msg === 'webhook delivered').length === 2,
      () => JSON.stringify(told()),
    );
    expect(told().map(({ name, msg, route, type }) => [name, msg, route ?? type].join(' ').trim())).toEqual(
      expect.arrayContaining([
        'api request /api/v1/readings',
        'worker reading completed',
        'worker reading published',
        'worker webhook delivered reading.completed',
        'worker webhook delivered reading.published',
      ]),
    );
    // No line about the reading is without it.
    const about = lines().filter((line) => JSON.stringify(line).includes(readingId));
    expect(about.filter((line) => line['requestId'] === undefined)).toEqual([]);
  });

  it('contains no personal data', () => {
    expect(CANARIES.filter((word) => text().includes(word))).toEqual([]);
  });
});

describe('metrics', () => {
  it('count the outcome of the reading', async () => {
    await until(
      async () => valueOf(await metricsOf('worker'), 'readings_completed_total', { mode: 'live' }) === 1,
      () => 'one reading completed',
    );
    const [api, worker] = [await metricsOf('api'), await metricsOf('worker')];
    const posts = { route: '/api/v1/readings', method: 'POST' };
    expect(valueOf(api, 'http_requests_total', { ...posts, status: '202' })).toBe(1);
    expect(valueOf(api, 'http_requests_total', { ...posts, status: '400' })).toBe(1);
    const appended = { category: 'reading', outcome: 'appended' };
    expect(valueOf(api, 'event_store_append_duration_seconds_count', appended)).toBe(1);
    expect(valueOf(worker, 'readings_accepted_total', { mode: 'live' })).toBe(1);
    expect(valueOf(worker, 'readings_failed_total', { mode: 'live', code: 'timed_out' })).toBe(0);
    expect(valueOf(worker, 'reading_publication_duration_seconds_count', { mode: 'live' })).toBe(1);
    expect(valueOf(worker, 'webhook_attempts_total', { result: 'succeeded' })).toBe(2);
    expect(valueOf(worker, 'jobs_due', { task: 'readings.generate' })).toBe(0);
    expect(valueOf(worker, 'consumer_lag_events', { consumer: 'billing.settlement.v1' })).toBe(0);
    expect(valueOf(worker, 'consumer_halted', { consumer: 'billing.settlement.v1' })).toBe(0);
    expect(valueOf(worker, 'consumer_beyond_log', { consumer: 'billing.settlement.v1' })).toBe(0);
    expect(valueOf(worker, 'ledger_reconciliation_differences')).toBe(0);
    expect(valueOf(worker, 'metrics_read_failures_total', { read: 'consumers' })).toBe(0);
  });

  it('are not on the public port', async () => {
    const answer = await fetch(`${stack.baseUrl}/metrics`);
    expect([401, 404]).toContain(answer.status);
    expect(await answer.text()).not.toContain('http_requests_total');
  });

  it('contain no personal data and no ids', async () => {
    const everything = `${await metricsOf('api')}${await metricsOf('worker')}`;
    expect(CANARIES.filter((word) => everything.includes(word))).toEqual([]);
    expect(everything).not.toContain(readingId);
  });

  it.each([
    ['docs/grafana-dashboard.json', () => expressionsOf(JSON.parse(read('docs/grafana-dashboard.json')))],
    ['docs/alerts.yml', () => expressionsOf(parse(read('docs/alerts.yml')))],
  ])('used in %s all exist, with the labels it uses', async (_, expressions) => {
    const asked = expressions().flatMap(selectorsOf);
    expect(asked.length).toBeGreaterThan(2);
    let unknown: typeof asked = [];
    // Some are absent for a moment, such as the end of a reconciliation while the next one runs.
    await until(
      async () => {
        const exposed = labelsByMetric(`${await metricsOf('api')}${await metricsOf('worker')}`);
        unknown = asked.filter(
          ({ metric, labels }) =>
            !exposed.has(metric) || labels.some((label) => !exposed.get(metric)!.has(label)),
        );
        return unknown.length === 0;
      },
      () => `known: ${JSON.stringify(unknown)}`,
    );
  });

  it('are all described in docs/telemetry.md', async () => {
    const told = read('docs/telemetry.md');
    const ours = [...labelsByMetric(`${await metricsOf('api')}${await metricsOf('worker')}`).keys()]
      .filter((name) => !/^(nodejs|process)_/.test(name))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    expect([...new Set(ours)].filter((name) => !told.includes(`\`${name}\``))).toEqual([]);
  });
});

const read = (path: string): string => readFileSync(projectPath(path), 'utf8');
