import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateTheme } from '#numerology/index.js';
import { Integrator, person, until, type Answer } from '../support/integrator.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';
import { inDatabase } from './support/in-database.js';
import { Documents, changedTexts, type Edition } from './support/documents.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** While it exists, a starting worker has other texts. */
const CHANGED = join(tmpdir(), `changed-texts-${process.pid}`);
const TEXTS = changedTexts(CHANGED, 'Thème numérologique', 'Thème corrigé');

let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack({
    env: { ...RECEIVER_SETTINGS, ...TEXTS, READING_DELAYED_AFTER_MS: '500' },
  });
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
  rmSync(CHANGED, { force: true });
});

const eventsOf = (readingId: string) =>
  receiver.received.filter(({ event }) => event.readingId === readingId).map(({ event }) => event);
/** Those after `reading.delayed`, which a slow machine sends for any reading. All arrive without a gap, in order. */
const outcomeOf = (readingId: string) => {
  const events = eventsOf(readingId);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  return events.filter(({ type }) => type !== 'reading.delayed');
};

const refusal = ({ status, headers, body }: Answer) => [status, body['code'], headers.get('retry-after')];

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
      livemode: true,
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
    expect(Buffer.from(await repeated.arrayBuffer()).equals(bytes)).toBe(true);
    const known = await fetch(repeated.url, {
      headers: { 'x-api-key': customer.apiKey, 'if-none-match': repeated.headers.get('etag')! },
    });
    expect(known.status).toBe(304);
  });

  it('is announced by signed webhooks, in order, without personal data', async () => {
    const { body } = await customer.create(person('Canari'));
    await customer.untilEnded(body.readingId);
    await until(
      () => outcomeOf(body.readingId).length >= 2,
      () => `${eventsOf(body.readingId).length} webhooks`,
    );
    const received = receiver.received.filter(({ event }) => event.readingId === body.readingId);
    expect(received.every(({ verified }) => verified)).toBe(true);
    const types = outcomeOf(body.readingId).map(({ type }) => type);
    expect(types).toEqual(['reading.completed', 'reading.published']);
    expect(JSON.stringify(received)).not.toMatch(/Canari|Lefèvre|1990-04-12|feminine/);
  });

  it('costs 20 credits when it completes, and then holds none', async () => {
    const before = await customer.balanceAtRest();
    const { body } = await customer.create(person());
    await customer.untilEnded(body.readingId);
    await until(
      async () => (await customer.balance()).consumed === before.consumed + 20,
      () => 'the capture of 20 credits',
    );
    expect(await customer.balance()).toMatchObject({ available: before.available - 20, held: before.held });
  });

  it('fails when it cannot be processed, releases the credits and announces it', async () => {
    const before = await customer.balanceAtRest();
    let toldOf: Promise<{ body: object }> | undefined;
    receiver.answer = ({ event }) => {
      if (event.type === 'reading.failed') toldOf = customer.call('GET', '/api/v1/credits');
      return { status: 204 };
    };
    const worker = stack.pids().worker;
    process.kill(worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    // Destroys the key as an erasure does, but before the reading is generated.
    await inDatabase(stack, 'delete from platform.subject_key where subject_id = $1', [body.readingId]);
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
    expect(refusal(result)).toEqual([409, 'reading_failed', null]);
    const again = await customer.call('POST', `/api/v1/readings/${body.readingId}/document/republish`);
    expect(refusal(again)).toEqual([409, 'reading_failed', null]);
    const document = await customer.call('GET', `/api/v1/readings/${body.readingId}/document?format=pdf`);
    expect(refusal(document)).toEqual([404, 'document_not_available', null]);
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
    expect(refusal(waiting)).toEqual([409, 'reading_not_completed', '2']);
    const early = await customer.call('POST', `/api/v1/readings/${body.readingId}/document/republish`);
    expect(refusal(early)).toEqual([409, 'reading_not_completed', '2']);
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

describe('another version of a document', () => {
  let documents: Documents;
  let first: Edition;

  it('is made from the current texts, announced, and leaves the bytes of the first', async () => {
    const choosePaper = ['workspace', 'booklet', '--workspace', customer.workspaceId, '--paper'];
    expect(await stack.ops([...choosePaper, 'us-letter'])).toMatchObject({ outcome: 'chosen' });
    const { readingId } = (await customer.create(person())).body;
    await customer.untilEnded(readingId);
    documents = new Documents(customer, readingId);
    first = await documents.edition();
    const before = await customer.balanceAtRest();
    const same = await documents.republish({ onlyIfTextsChanged: true });
    expect([same.status, same.body]).toEqual([202, { readingId, version: 1, outcome: 'unchanged' }]);
    await stack.ops([...choosePaper, 'by-locale']);
    writeFileSync(CHANGED, '');
    process.kill(stack.pids().worker, 'SIGKILL');
    const answers = await Promise.all([1, 2, 3].map(() => documents.republish()));
    for (const { status, headers, body } of answers) {
      expect([status, body]).toEqual([202, { readingId, version: 2, outcome: 'requested' }]);
      expect(headers.get('location')).toBe(`/api/v1/readings/${readingId}`);
    }
    await documents.untilVersion(2);
    const second = await documents.edition();
    expect(first.markdown).toContain('Thème numérologique');
    expect(second.markdown).toContain('Thème corrigé');
    expect(second.markdown).toMatch(/documentVersion: 2/);
    expect(second.etags).not.toEqual(first.etags);
    expect([first.width, second.width]).toEqual([612, 595]);
    expect(await documents.edition(2)).toEqual(second);
    expect(await documents.edition(1)).toEqual(first);
    expect(await documents.refusalOf(3)).toEqual([404, 'version_not_found']);
    await until(
      () => outcomeOf(readingId).length >= 3,
      () => 'reading.published of version 2',
    );
    expect(outcomeOf(readingId)).toMatchObject([
      { type: 'reading.completed' },
      { type: 'reading.published', data: { document: { version: 1 } } },
      { type: 'reading.published', data: { document: { version: 2 } } },
    ]);
    expect(await customer.balance()).toEqual(before);
  });

  it('whose stored bytes are lost is made again with equal bytes, and only with equal bytes', async () => {
    const { readingId } = documents;
    const lose = `delete from publishing.artifact where reading_id = $1 and format <> 'markdown'`;
    await inDatabase(stack, lose, [readingId]);
    expect(await documents.refusalOf(1)).toEqual([404, 'document_not_available']);
    const run = async <T>(...args: string[]): Promise<T> =>
      JSON.parse((await stack.runOps([...args, '--json'])).stdout) as T;
    const { findings } = await run<{ findings: object[] }>('doctor');
    expect(findings).toContainEqual(expect.objectContaining({ check: 'documents', level: 'failure' }));
    const expected = [
      { readingId, version: 1, lost: ['document_v1', 'pdf'], outcome: 'remade' },
      // The operator's program has the texts of version 1.
      { readingId, version: 2, lost: ['document_v1', 'pdf'], outcome: 'renders_differently' },
    ];
    expect(await run('publications', 'remake', '--all')).toMatchObject({ dryRun: true, versions: expected });
    expect(await documents.refusalOf(1)).toEqual([404, 'document_not_available']);
    expect(await run('publications', 'remake', readingId, '--yes')).toMatchObject({ versions: expected });
    expect(await documents.edition(1)).toEqual(first);
  });

  it('replaces a lost one, and answers a repeated key alike', async () => {
    const headers = { 'idempotency-key': 'third version' };
    const third = await documents.republish({}, headers);
    await documents.untilVersion(3);
    const again = await documents.republish({}, headers);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      202,
      third.body,
      'true',
    ]);
    expect((await documents.edition()).markdown).toContain('Thème corrigé');
  });
});
