import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';
import { Integrator, until } from '../support/integrator.js';
import { fixture, RECEIVER_SETTINGS, startCollector, startReceiver, startStack } from '../support/index.js';
import { everyFile, everyTable } from '../support/all-that-is-stored.js';

/** Invented words that occur nowhere else. One found in clear is a leak. */
const CANARIES = ['Qxanthippe', 'Wombatine', 'Zugvogelsson', '1987-03-29', 'nonbinary'];
const EXTERNAL_ID = 'Yrsolinde-4711';
const ORDER = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'en-US',
  name: { firstNames: ['Qxanthippe'], middleNames: ['Wombatine'], lastNames: ['Zugvogelsson'] },
  dateOfBirth: '1987-03-29',
  grammaticalProfile: { subjectGender: 'nonbinary' },
};

/**
 * The first of two neighbouring free ports: the worker's metrics use the port after the API's. The system hands out higher
 * ones, so no connection of another process takes them before the stack listens.
 */
const twoFreePorts = async (): Promise<number> => {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const servers = [port, port + 1].map((one) => createServer().listen(one, '127.0.0.1'));
    const areFree = await Promise.all(
      servers.map((server) =>
        once(server, 'listening').then(
          () => true,
          () => false,
        ),
      ),
    );
    for (const server of servers) server.close();
    if (areFree.every(Boolean)) return port;
  }
};

const collector = fixture(startCollector);
let metricsPort: number;
const stack = fixture(async () => {
  metricsPort = await twoFreePorts();
  return startStack({
    env: {
      ...RECEIVER_SETTINGS,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'debug',
    },
  });
});
const receiver = fixture(startReceiver);
const customer = fixture(() => Integrator.open(stack, 1_000));
let readingId: string;
let requestId: string;

beforeAll(async () => {
  await customer.endpoint(receiver);
  const accepted = await customer.create(ORDER, {
    'idempotency-key': 'Qxanthippe-1',
    traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
  });
  readingId = accepted.body.readingId;
  requestId = accepted.headers.get('x-request-id')!;
  await customer.create({ ...ORDER, dateOfBirth: '1987-03-299' });
  await customer.call('GET', `/api/v1/readings/${readingId}?x=Qxanthippe`);
  await customer.untilEnded(readingId);
  const links = `/api/v1/readings/${readingId}/document/links`;
  const link = await customer.call<{ url: string }>('POST', links, { body: { format: 'pdf' } });
  expect((await fetch(link.body.url)).status).toBe(200);
  expect((await fetch(`${link.body.url}x`)).status).toBe(404);
  CANARIES.push(link.body.url.slice(-40));
  const named = (name: string) => collector.spans.filter((span) => span.name === name).length;
  await until(() => named('GET /d/:token') === 2, 'the spans of a link');
  await until(() => receiver.received.length >= 2 && named('webhook attempt') > 0, 'spans of webhooks');
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
  // A connection that was kept may have ended since: a real event store has files that take seconds to search.
  (
    await fetch(`http://127.0.0.1:${metricsPort + (role === 'api' ? 0 : 1)}/metrics`, {
      headers: { connection: 'close' },
    })
  ).text();

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

  it('has one root, which links to the caller’s trace without joining it, and routes, ids and results', () => {
    const ids = new Set(story().map(({ spanId }) => spanId));
    const rootless = story().filter(({ parentSpanId }) => !ids.has(parentSpanId));
    expect(rootless.map(({ name }) => name)).toEqual(['POST /api/v1/readings']);
    expect(root()).toMatchObject({ links: 1, attributes: { 'http.route': '/api/v1/readings' } });
    // Strangers do not decide what is recorded.
    expect(root()?.traceId).not.toBe('1'.repeat(32));
    const named = (name: string) => story().filter((span) => span.name === name);
    expect(named('job readings.generate')[0]?.attributes['reading.id']).toBe(readingId);
    const results = named('webhook attempt').map(({ attributes }) => attributes['webhook.result']);
    expect(results).toEqual(['succeeded', 'succeeded']);
  });
});

describe('the log', () => {
  const logOf = (name: string) => readFileSync(join(stack.dataDir, 'logs', `${name}.log`), 'utf8');
  const lines = () =>
    (logOf('api') + logOf('worker'))
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
});

/** Every PromQL expression in a dashboard or a file of rules. */
const expressionsOf = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'expr' && typeof inner === 'string' ? [inner] : expressionsOf(inner),
  );
};

const FUNCTIONS = new Set(
  'sum max min rate increase histogram_quantile by on clamp_min time absent vector or and unless le without ignoring'.split(
    ' ',
  ),
);

/** The metrics of an expression and the labels it selects or groups by. */
const selectorsOf = (expression: string): { metric: string; labels: string[] }[] => {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/));
  const bare = expression
    .replace(/\bby \([^)]*\)/g, '')
    .replace(/"[^"]*"/g, '""')
    .replace(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(/([a-z_][a-z0-9_]*)(?:\{([^}]*)\})?/g)].flatMap(([, name, selectors]) => {
    if (FUNCTIONS.has(name!) || !name!.includes('_')) return [];
    const selected = (selectors ?? '').split(',').flatMap((one) => /^\s*([a-z_]+)/.exec(one)?.[1] ?? []);
    return [{ metric: name!, labels: [...selected, ...grouped.filter((label) => label !== '')] }];
  });
};

/** The value of the series with at least these labels; `undefined` without one. */
const valueOf = (text: string, metric: string, labels: Readonly<Record<string, string>> = {}) => {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`${metric}{`) && wanted.every((label) => one.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
};

const labelsByMetric = (text: string): Map<string, Set<string>> => {
  const found = new Map<string, Set<string>>();
  for (const [, name, labels] of text.matchAll(/^([a-z_][a-z0-9_]*)\{(.*)\} /gm)) {
    const known = found.get(name!) ?? new Set(['job', 'instance']);
    for (const [, label] of labels!.matchAll(/([a-z_]+)="/g)) known.add(label!);
    found.set(name!, known);
  }
  return found;
};

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
    expect(valueOf(worker, 'readings_accepted_total', { mode: 'live' })).toBe(1);
    expect(valueOf(worker, 'readings_failed_total', { mode: 'live', code: 'timed_out' })).toBe(0);
    expect(valueOf(worker, 'reading_publication_duration_seconds_count', { mode: 'live' })).toBe(1);
    expect(valueOf(worker, 'webhook_attempts_total', { result: 'succeeded' })).toBe(2);
    expect(valueOf(worker, 'consumer_lag_events', { consumer: 'billing.settlement.v1' })).toBe(0);
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

/** After the counts, because it orders more readings. */
describe('personal data and secrets appear in clear nowhere', () => {
  beforeAll(async () => {
    const body = { ...ORDER, externalId: EXTERNAL_ID, metadata: { Klabusterfeld: 'Hortensienweg' } };
    CANARIES.push(EXTERNAL_ID, 'Klabusterfeld', 'Hortensienweg');
    CANARIES.push(customer.apiKey, customer.apiKey.slice(17), receiver.secret);
    await customer.create({ ...body, metadata: { test_outcome: 'Hortensienweg' } });
    const readings = [body, { ...body, metadata: { Klabusterfeld: 1 } }];
    const batch = { body: { mode: 'available', readings }, headers: { 'idempotency-key': 'Qxanthippe-2' } };
    expect((await customer.call('POST', '/api/v1/readings/bulk', batch)).status).toBe(202);
    const lists = `/api/v1/readings?externalId=${EXTERNAL_ID}`;
    expect((await customer.call('GET', lists)).status).toBe(200);
    expect((await customer.call('GET', `${lists}&status=Hortensienweg`)).status).toBe(400);
    const links = `/api/v1/readings/${readingId}/document/links`;
    const { linkId, url } = (
      await customer.call<Record<string, string>>('POST', links, { body: { format: 'markdown' } })
    ).body;
    CANARIES.push(url!.slice(-40));
    expect((await fetch(`${url}/more`)).status).toBe(404);
    await customer.call('DELETE', `${links}/${linkId}`);
    expect((await fetch(url!)).status).toBe(410);
    // A failing reading, whose error must not repeat the input either.
    process.kill(stack.pids().worker, 'SIGSTOP');
    const failing = (await customer.create(body)).body.readingId;
    await stack.query('delete from platform.subject_key where subject_id = $1', [failing]);
    process.kill(stack.pids().worker, 'SIGCONT');
    expect(await customer.untilEnded(failing)).toMatchObject({ status: 'failed' });
    await until(
      () => receiver.received.some(({ event }) => event.readingId === failing),
      'the webhook of the failure',
    );
  });

  /** Canaries and secrets found in a text, also as base64, as hex and with escaped characters. */
  const found = (text: string): string[] => {
    const lower = text.toLowerCase();
    return CANARIES.filter((word) => {
      const bytes = Buffer.from(word);
      const base64 = bytes.toString('base64').replace(/=+$/, '').slice(0, -1);
      return [word, bytes.toString('hex'), base64].some((form) => lower.includes(form.toLowerCase()));
    });
  };

  it('the search finds planted values', () => {
    expect(found(`x${CANARIES[0]}y`)).toEqual([CANARIES[0]]);
    expect(found(Buffer.from('Zugvogelsson').toString('hex'))).toEqual(['Zugvogelsson']);
  });

  it('in no table of the database, and in no file of the data folder', async () => {
    const leaks: string[] = [];
    const [tables, files] = [new Set<string>(), new Set<string>()];
    for await (const [name, rows] of everyTable(stack)) {
      tables.add(name);
      leaks.push(...found(rows).map((word) => `${name}: ${word}`));
    }
    for (const [path, bytes] of everyFile(stack)) {
      files.add(path);
      leaks.push(...found(bytes.toString('latin1')).map((word) => `${path}: ${word}`));
    }
    expect([leaks, tables.size > 10, files.size > 50]).toEqual([[], true, true]);
  });

  it('in no webhook, but for the external id', () => {
    const sent = JSON.stringify(receiver.received.map(({ event, headers }) => ({ event, headers })));
    expect(found(sent)).toEqual([EXTERNAL_ID]);
  });

  it('in no span and in nothing the stack printed, and in metrics not even an id', async () => {
    expect(found(Buffer.concat(collector.raw).toString('latin1'))).toEqual([]);
    expect(found(stack.output())).toEqual([]);
    const metrics = (await metricsOf('api')) + (await metricsOf('worker'));
    expect([found(metrics), metrics.includes(readingId)]).toEqual([[], false]);
  });
});
