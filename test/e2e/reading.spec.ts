import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { calculateTheme } from '@app/numerology/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack({ env: { ...RECEIVER_SETTINGS, READING_DELAYED_AFTER_MS: '500' } });
  customer = await Integrator.open(stack, 1_000);
  receiver = await startReceiver();
  const created = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
  expect(created.status).toBe(201);
  receiver.secret = created.body.signingSecret;
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

const eventsOf = (readingId: string) =>
  receiver.received.filter(({ event }) => event.readingId === readingId).map(({ event }) => event);

describe('a reading', () => {
  it('is accepted at once, in the shape of the contract', async () => {
    const { status, headers, body } = await customer.create(person());
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/api/v1/readings/${body.readingId}`);
    expect(headers.get('retry-after')).toBe('2');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
    expect(body.readingId).toMatch(UUID);
    const { locale: _locale, productId: _productId, profileId: _profileId, ...input } = person();
    expect(body).toEqual({
      readingId: body.readingId,
      workspaceId: customer.workspaceId,
      status: 'queued',
      productId: 'theme',
      profileId: 'evan',
      locale: 'fr-FR',
      externalId: null,
      metadata: null,
      input: { ...input, displayName: 'Zoé Marie Lefèvre' },
      document: { available: false, version: null, artifactId: null, publishedAt: null },
      error: null,
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
      completedAt: null,
      erasedAt: null,
    });
  });

  it('completes with the numbers of the method, and is published in three formats', async () => {
    const { body } = await customer.create(person());
    const ended = await customer.untilEnded(body.readingId);
    expect(ended).toMatchObject({
      status: 'completed',
      error: null,
      completedAt: expect.stringMatching(INSTANT),
    });
    expect(ended.document).toEqual({
      available: true,
      version: 1,
      artifactId: expect.stringMatching(/^art_[0-9a-f-]{36}$/),
      publishedAt: expect.stringMatching(INSTANT),
    });

    const result = await customer.call<{ numbers: unknown; asOf: string }>(
      'GET',
      `/api/v1/readings/${body.readingId}/result`,
    );
    expect(result.status).toBe(200);
    const { name, dateOfBirth } = person();
    const theme = calculateTheme({ name, dateOfBirth, subjectGender: 'feminine' }, result.body.asOf);
    expect(result.body.numbers).toEqual(JSON.parse(JSON.stringify(theme.numbers)));

    const fetchFormat = (format: string) =>
      fetch(`${stack.baseUrl}/api/v1/readings/${body.readingId}/document?format=${format}`, {
        headers: { 'x-api-key': customer.apiKey },
      });
    const json = await fetchFormat('document_v1');
    expect(json.headers.get('content-type')).toBe('application/json');
    expect(await json.json()).toMatchObject({ type: 'document', locale: 'fr-FR' });
    const markdown = await fetchFormat('markdown');
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown.text()).toContain('Zoé Marie Lefèvre');
    const pdf = await fetchFormat('pdf');
    expect(pdf.headers.get('content-type')).toBe('application/pdf');
    expect(pdf.headers.get('content-disposition')).toContain('attachment');
    const bytes = Buffer.from(await pdf.arrayBuffer());
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');

    const repeated = await fetchFormat('pdf');
    expect(
      createHash('sha256')
        .update(Buffer.from(await repeated.arrayBuffer()))
        .digest('hex'),
    ).toBe(createHash('sha256').update(bytes).digest('hex'));
    const known = await fetch(repeated.url, {
      headers: { 'x-api-key': customer.apiKey, 'if-none-match': repeated.headers.get('etag')! },
    });
    expect(known.status).toBe(304);
  });

  it('is announced by signed webhooks, in order, without personal data', async () => {
    const { body } = await customer.create(person('Canari'));
    await customer.untilEnded(body.readingId);
    await until(
      () => eventsOf(body.readingId).length >= 2,
      () => `${eventsOf(body.readingId).length} webhooks`,
    );
    const received = receiver.received.filter(({ event }) => event.readingId === body.readingId);
    expect(received.every(({ verified }) => verified)).toBe(true);
    expect(eventsOf(body.readingId).map(({ type, sequence }) => [type, sequence])).toEqual([
      ['reading.completed', 1],
      ['reading.published', 2],
    ]);
    expect(JSON.stringify(received)).not.toMatch(/Canari|Lefèvre|1990-04-12|feminine/);
  });

  it('costs 20 credits when it completes, and then holds none', async () => {
    const before = await customer.balance();
    const { body } = await customer.create(person());
    await customer.untilEnded(body.readingId);
    await until(
      async () => (await customer.balance()).consumed === before.consumed + 20,
      () => 'the capture of 20 credits',
    );
    expect(await customer.balance()).toMatchObject({ available: before.available - 20, held: before.held });
  });

  it('fails when it cannot be processed, releases the credits and announces it', async () => {
    const before = await customer.balance();
    let toldOf: Promise<{ body: object }> | undefined;
    receiver.answer = ({ event }) => {
      if (event.type === 'reading.failed') toldOf = customer.call('GET', '/api/v1/credits');
      return { status: 204 };
    };
    const worker = stack.pids().worker;
    process.kill(worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    // Destroys the key as an erasure does, but before the reading is generated.
    await withDatabase(stack, (query) =>
      query('delete from platform.subject_key where subject_id = $1', [body.readingId]),
    );
    process.kill(worker, 'SIGCONT');
    const ended = await customer.untilEnded(body.readingId);
    expect(ended).toMatchObject({
      status: 'failed',
      error: {
        code: 'input_unprocessable',
        retryable: false,
        title: expect.any(String),
        occurredAt: expect.stringMatching(INSTANT),
      },
    });
    const result = await customer.call('GET', `/api/v1/readings/${body.readingId}/result`);
    expect([result.status, result.body['code']]).toEqual([409, 'reading_failed']);
    const document = await customer.call('GET', `/api/v1/readings/${body.readingId}/document?format=pdf`);
    expect([document.status, document.body['code'], document.headers.get('retry-after')]).toEqual([
      404,
      'document_not_available',
      null,
    ]);
    await until(
      () => toldOf !== undefined,
      () => 'reading.failed',
    );
    // A receiver that checks at once sees the credits released.
    expect((await toldOf!).body).toMatchObject({ available: before.available, reserved: before.held });
    expect(eventsOf(body.readingId).filter(({ type }) => type === 'reading.failed')).toHaveLength(1);
  });

  it('that takes too long is announced as delayed, once, before it completes', async () => {
    const worker = stack.pids().worker;
    process.kill(worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    await new Promise((resolve) => setTimeout(resolve, 800));
    const waiting = await customer.call('GET', `/api/v1/readings/${body.readingId}/result`);
    expect([waiting.status, waiting.body['code'], waiting.headers.get('retry-after')]).toEqual([
      409,
      'reading_not_completed',
      '2',
    ]);
    process.kill(worker, 'SIGCONT');
    await customer.untilEnded(body.readingId);
    await until(
      () => eventsOf(body.readingId).length >= 3,
      () => `${eventsOf(body.readingId).length} webhooks`,
    );
    expect(eventsOf(body.readingId).map(({ type, sequence }) => [type, sequence])).toEqual([
      ['reading.delayed', 1],
      ['reading.completed', 2],
      ['reading.published', 3],
    ]);
  });
});

const withDatabase = async (
  { databaseUrl }: StartedStack,
  work: (query: (text: string, values: unknown[]) => Promise<unknown>) => Promise<unknown>,
): Promise<void> => {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await work((text, values) => client.query(text, values));
  } finally {
    await client.end();
  }
};
