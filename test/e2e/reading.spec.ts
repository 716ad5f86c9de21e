import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { calculateTheme } from '#numerology/index.js';
import { Integrator, person, until, type Answer } from '../support/integrator.js';
import { fixture, RECEIVER_SETTINGS, startReceiver, startStack } from '../support/index.js';
import { Documents, changedTexts, type Edition } from './support/documents.js';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** While it exists, a starting worker has other texts. */
const CHANGED = join(tmpdir(), `changed-texts-${process.pid}`);
const TEXTS = changedTexts(CHANGED, 'Thème numérologique', 'Thème corrigé');
afterAll(() => rmSync(CHANGED, { force: true }));

const stack = fixture(() =>
  startStack({
    env: { ...RECEIVER_SETTINGS, ...TEXTS, READING_DELAYED_AFTER_MS: '500' },
  }),
);
const receiver = fixture(startReceiver);
const customer = fixture(() => Integrator.open(stack, 1_000));
beforeAll(async () => {
  await customer.endpoint(receiver);
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
  it('completes with the numbers of the method, and is published in three formats', async () => {
    const readingId = await customer.published();
    const path = `/api/v1/readings/${readingId}`;
    const result = await customer.call<{ numbers: unknown; asOf: string }>('GET', `${path}/result`);
    const { name, dateOfBirth } = person();
    const theme = calculateTheme({ name, dateOfBirth, subjectGender: 'feminine' }, result.body.asOf);
    expect(result.body.numbers).toEqual(JSON.parse(JSON.stringify(theme.numbers)));

    const read = async (format: string, headers = {}) => {
      const { apiKey } = customer;
      const url = `${stack.baseUrl}${path}/document?format=${format}`;
      const answer = await fetch(url, { headers: { 'x-api-key': apiKey, ...headers } });
      const { status } = answer;
      return { status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
    };
    for (const [format, type, text] of [
      ['document_v1', 'application/json', '"type":"document"'],
      ['markdown', 'text/markdown; charset=utf-8', 'Zoé Marie Lefèvre'],
      ['pdf', 'application/pdf', '%PDF-'],
    ] as const) {
      const { headers, bytes } = await read(format);
      expect([headers.get('content-type'), bytes.includes(text)]).toEqual([type, true]);
    }
    const [pdf, again] = [await read('pdf'), await read('pdf')];
    expect(pdf.headers.get('content-disposition')).toContain('attachment');
    expect(again.bytes.equals(pdf.bytes)).toBe(true);
    expect((await read('pdf', { 'if-none-match': pdf.headers.get('etag') })).status).toBe(304);
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
    await stack.query('delete from platform.subject_key where subject_id = $1', [body.readingId]);
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
    const path = `/api/v1/readings/${body.readingId}`;
    const failed = [409, 'reading_failed', null];
    expect(refusal(await customer.call('GET', `${path}/result`))).toEqual(failed);
    expect(refusal(await customer.call('POST', `${path}/document/republish`))).toEqual(failed);
    const document = await customer.call('GET', `${path}/document?format=pdf`);
    expect(refusal(document)).toEqual([404, 'document_not_available', null]);
    await until(() => toldOf !== undefined, 'reading.failed');
    // A receiver that checks at once sees the credits released.
    expect((await toldOf!).body).toMatchObject({ available: before.available, reserved: before.held });
    expect(eventsOf(body.readingId).filter(({ type }) => type === 'reading.failed')).toHaveLength(1);
  });

  it('that takes too long is announced as delayed, once, before it completes', async () => {
    const worker = stack.pids().worker;
    process.kill(worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    await delay(800);
    const path = `/api/v1/readings/${body.readingId}`;
    const early = [409, 'reading_not_completed', '2'];
    expect(refusal(await customer.call('GET', `${path}/result`))).toEqual(early);
    expect(refusal(await customer.call('POST', `${path}/document/republish`))).toEqual(early);
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
    const readingId = await customer.published();
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
    await until(() => outcomeOf(readingId).length >= 3, 'reading.published of version 2');
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
    await stack.query(lose, [readingId]);
    expect(await documents.refusalOf(1)).toEqual([404, 'document_not_available']);
    expect(await stack.doctor()).toContainEqual(
      expect.objectContaining({ check: 'documents', level: 'failure' }),
    );
    const remake = (...args: string[]) => stack.report(['publications', 'remake', ...args]);
    const versions = [
      { readingId, version: 1, lost: ['document_v1', 'pdf'], outcome: 'remade' },
      // The operator's program has the texts of version 1.
      { readingId, version: 2, lost: ['document_v1', 'pdf'], outcome: 'renders_differently' },
    ];
    expect(await remake('--all')).toMatchObject({ dryRun: true, versions });
    expect(await documents.refusalOf(1)).toEqual([404, 'document_not_available']);
    expect(await remake(readingId, '--yes')).toMatchObject({ versions });
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
