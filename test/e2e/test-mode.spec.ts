import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person, until, untilServed, type Reading } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

interface FeedEvent {
  readonly type: string;
  readonly readingId: string;
  readonly livemode: boolean;
  readonly createdAt: string;
  readonly data: { readonly error: { readonly code: string } | null };
}

let stack: Stack;
let live: Integrator;
let test: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  live = await Integrator.open(stack, 100);
  test = await live.inTestMode();
});

afterAll(async () => {
  await stack?.stop();
});

const ask = (outcome: string, by = test) =>
  by.create({ ...person('Ada', 'en-US'), metadata: { test_outcome: outcome } });
const feedOf = async (by: Integrator): Promise<readonly FeedEvent[]> =>
  (await by.call<{ data: readonly FeedEvent[] }>('GET', '/api/v1/events?limit=100')).body.data;
const document = async (by: Integrator, readingId: string, format: string) => {
  const path = `/api/v1/readings/${readingId}/document?format=${format}`;
  const answer = await fetch(`${stack.baseUrl}${path}`, { headers: { 'x-api-key': by.apiKey } });
  return { status: answer.status, text: await answer.text() };
};

const accepted = async (outcome: string): Promise<Reading> => {
  const { status, body } = await ask(outcome);
  expect([outcome, status, body['livemode']]).toEqual([outcome, 202, false]);
  return body;
};
const eventsOf = async (readingId: string) =>
  (await feedOf(test)).filter((event) => event.readingId === readingId);
const millisecondsBetween = (from: unknown, to: unknown) => Date.parse(String(to)) - Date.parse(String(from));

describe('a test reading gets the outcome that it asks for', () => {
  it.each(['generation_failed', 'input_unprocessable', 'timed_out', 'internal_error'])(
    'failed:%s',
    async (code) => {
      const { readingId } = await accepted(`failed:${code}`);
      expect(await test.untilEnded(readingId)).toMatchObject({ status: 'failed', error: { code } });
      await until(
        async () => (await eventsOf(readingId)).length > 0,
        () => 'its failure is told',
      );
      expect(await eventsOf(readingId)).toEqual([
        expect.objectContaining({
          type: 'reading.failed',
          livemode: false,
          data: expect.objectContaining({ error: expect.objectContaining({ code }) }),
        }),
      ]);
    },
  );

  // At the same time: each waits for itself.
  it('delayed, slow, publication_late', async () => {
    const [delayed, slow, late] = await Promise.all(
      ['delayed', 'slow:4', 'publication_late:4'].map((outcome) => accepted(outcome)),
    );
    const ended = await Promise.all(
      [delayed!, slow!, late!].map(({ readingId }) => test.untilEnded(readingId)),
    );
    expect(ended.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    await until(
      async () => (await eventsOf(delayed!.readingId)).length >= 3,
      () => 'its publication is told',
    );
    const events = await eventsOf(delayed!.readingId);
    expect(events.map(({ type }) => type)).toEqual([
      'reading.delayed',
      'reading.completed',
      'reading.published',
    ]);
    expect(millisecondsBetween(delayed!['createdAt'], events[0]!.createdAt)).toBeGreaterThan(4_900);
    expect(millisecondsBetween(slow!['createdAt'], ended[1]!['completedAt'])).toBeGreaterThan(3_900);
    const { completedAt, document: published } = ended[2]!;
    expect(millisecondsBetween(completedAt, published.publishedAt)).toBeGreaterThan(3_900);
  });

  it.each([
    ['insufficient_credits', 402, 'insufficient_credits'],
    ['rate_limited', 429, 'rate_limited'],
    ['unavailable', 503, 'enqueue_unavailable'],
    ['billing_misconfigured', 503, 'billing_misconfigured'],
  ])('%s', async (outcome, status, code) => {
    const answer = await ask(outcome);
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
    if (status !== 402) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('but not in live mode, nor an unknown one', async () => {
    for (const [by, outcome] of [
      [live, 'failed:timed_out'],
      [live, 'unavailable'],
      [test, 'failed:ping'],
    ] as const) {
      const { status, body } = await ask(outcome, by);
      expect([status, body['errors']]).toMatchObject([400, [{ pointer: '/metadata/test_outcome' }]]);
    }
  });
});

describe('live and test', () => {
  it('share a workspace and nothing else: readings, documents, events, credits', async () => {
    const before = await live.balance();
    const { readingId } = (await test.create(person('Ada', 'en-US'))).body;
    await test.untilEnded(readingId);
    for (const path of ['', '/result', '/document?format=pdf', '/events'])
      expect((await live.call('GET', `/api/v1/readings/${readingId}${path}`)).status).toBe(404);
    const markdown = await document(test, readingId, 'markdown');
    expect(markdown.text.replace(/^---\n[\s\S]*?\n---\n/, '').trimStart()).toMatch(/^[*]{2}TEST[*]{2}/);
    expect(JSON.parse((await document(test, readingId, 'document_v1')).text)).toMatchObject({
      livemode: false,
    });

    const mine = (await live.create()).body;
    await live.untilEnded(mine.readingId);
    expect((await test.call('GET', `/api/v1/readings/${mine.readingId}`)).status).toBe(404);
    expect(JSON.parse((await document(live, mine.readingId, 'document_v1')).text)).not.toHaveProperty(
      'livemode',
    );
    expect((await document(live, mine.readingId, 'markdown')).text).not.toContain('TEST');

    await until(
      async () => (await live.balance()).consumed === before.consumed + 20,
      () => 'the live reading is charged',
    );
    expect(await live.balance()).toMatchObject({ available: before.available - 20, held: 0 });
    expect((await feedOf(live)).every((event) => event.livemode && event.readingId === mine.readingId)).toBe(
      true,
    );
    expect((await feedOf(test)).some(({ livemode }) => livemode)).toBe(false);
  });

  it('do not wait for each other: a live reading overtakes test readings that hold more slots than there are', async () => {
    const readings = Array.from({ length: 40 }, () => ({
      ...person('Ada', 'en-US'),
      metadata: { test_outcome: 'slow:60' },
    }));
    const { body } = await test.call<{ accepted: number; batchId: string }>('POST', '/api/v1/readings/bulk', {
      body: { mode: 'all', readings },
    });
    expect(body.accepted).toBe(40);
    const { readingId } = (await live.create()).body;
    expect(await live.untilEnded(readingId)).toMatchObject({ status: 'completed' });
    expect((await test.call('GET', `/api/v1/batches/${body.batchId}`)).body).toMatchObject({
      states: { queued: 40 },
    });
  });
});

describe('a trial', () => {
  it('is about a test reading whose result and document can be fetched, made when there is none', async () => {
    const newcomer = await Integrator.open(stack, 20);
    const { body: endpoint } = await newcomer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: 'https://receiver.example.com/hook' },
    });
    const send = () =>
      untilServed(() =>
        newcomer.call<{ readingId: string; livemode: boolean }>(
          'POST',
          `/api/v1/webhooks/${endpoint.endpointId}/test`,
          { body: { type: 'reading.published' } },
        ),
      );
    const { status, body: delivery } = await send();
    expect([status, delivery]).toMatchObject([202, { livemode: false, test: true }]);
    const tester = await newcomer.inTestMode();
    expect((await tester.call('GET', `/api/v1/readings/${delivery.readingId}/result`)).status).toBe(200);
    expect((await document(tester, delivery.readingId, 'pdf')).status).toBe(200);
    expect((await send()).body.readingId).toBe(delivery.readingId);
    expect(await newcomer.balance()).toMatchObject({ available: 20, held: 0, consumed: 0 });
  });
});
