import { expect, it } from '@jest/globals';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, person, until, type Reading } from '../support/integrator.js';

interface FeedEvent {
  readonly type: string;
  readonly readingId: string;
  readonly livemode: boolean;
  readonly createdAt: string;
}

const stack = fixture(sharedStack);
const live = fixture(() => Integrator.open(stack, 100));
const test = fixture(() => live.inTestMode());

const asking = (outcome: string) => ({ ...person('Ada', 'en-US'), metadata: { test_outcome: outcome } });
const accepted = async (outcome: string): Promise<Reading> => {
  const { status, body } = await test.create(asking(outcome));
  expect([outcome, status, body['livemode']]).toEqual([outcome, 202, false]);
  return body;
};
const feedOf = async (by: Integrator): Promise<readonly FeedEvent[]> =>
  (await by.call<{ data: readonly FeedEvent[] }>('GET', '/api/v1/events?limit=100')).body.data;
/** What is told of a reading, once it is as much. */
const toldOf = async (readingId: string, count: number) => {
  let told: readonly FeedEvent[] = [];
  await until(async () => {
    told = (await feedOf(test)).filter((event) => event.readingId === readingId);
    return told.length >= count;
  }, 'its end is told');
  return told;
};
const document = async (by: Integrator, readingId: string, format: string) => {
  const path = `/api/v1/readings/${readingId}/document?format=${format}`;
  const answer = await fetch(stack.baseUrl + path, { headers: { 'x-api-key': by.apiKey } });
  return { status: answer.status, text: await answer.text() };
};
const millisecondsBetween = (from: unknown, to: unknown) => Date.parse(String(to)) - Date.parse(String(from));

// At the same time: each waits for itself.
it('A test reading gets the outcome that it asks for, and waits as long', async () => {
  const asked = ['failed:timed_out', 'delayed', 'slow:4', 'publication_late:4'];
  const readings = await Promise.all(asked.map((outcome) => accepted(outcome)));
  const [failed, delayed, slow, late] = await Promise.all(
    readings.map(({ readingId }) => test.untilEnded(readingId)),
  );
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'timed_out' } });
  const error = expect.objectContaining({ code: 'timed_out' });
  expect(await toldOf(failed!.readingId, 1)).toEqual([
    expect.objectContaining({
      type: 'reading.failed',
      livemode: false,
      data: expect.objectContaining({ error }),
    }),
  ]);
  for (const one of [delayed, slow, late]) expect(one).toMatchObject({ status: 'completed' });
  const told = await toldOf(delayed!.readingId, 3);
  const types = ['reading.delayed', 'reading.completed', 'reading.published'];
  expect(told.map(({ type }) => type)).toEqual(types);
  expect(millisecondsBetween(delayed!['createdAt'], told[0]!.createdAt)).toBeGreaterThan(4_900);
  expect(millisecondsBetween(slow!['createdAt'], slow!['completedAt'])).toBeGreaterThan(3_900);
  expect(millisecondsBetween(late!['completedAt'], late!.document.publishedAt)).toBeGreaterThan(3_900);
});

it('Live and test share a workspace and nothing else: readings, documents, events, credits', async () => {
  const before = await live.balance();
  const readingId = await test.published(person('Ada', 'en-US'));
  for (const path of ['', '/result', '/document?format=pdf', '/events'])
    expect((await live.call('GET', `/api/v1/readings/${readingId}${path}`)).status).toBe(404);
  const markdown = await document(test, readingId, 'markdown');
  expect(markdown.text.replace(/^---\n[\s\S]*?\n---\n/, '').trimStart()).toMatch(/^[*]{2}TEST[*]{2}/);
  const tree = async (by: Integrator, of: string) =>
    JSON.parse((await document(by, of, 'document_v1')).text) as object;
  expect(await tree(test, readingId)).toMatchObject({ livemode: false });

  const mine = await live.published();
  expect((await test.call('GET', `/api/v1/readings/${mine}`)).status).toBe(404);
  expect(await tree(live, mine)).not.toHaveProperty('livemode');
  expect((await document(live, mine, 'markdown')).text).not.toContain('TEST');
  await live.untilConsumed(before.consumed + 20);
  expect(await live.balance()).toMatchObject({ available: before.available - 20, held: 0 });
  expect((await feedOf(live)).every((event) => event.livemode && event.readingId === mine)).toBe(true);
  expect((await feedOf(test)).some(({ livemode }) => livemode)).toBe(false);
});

it('Live and test do not wait for each other: a live reading overtakes test readings that hold more slots than there are', async () => {
  const readings = Array.from({ length: 40 }, () => asking('slow:60'));
  const { body } = await test.call('POST', '/api/v1/readings/bulk', { body: { mode: 'all', readings } });
  expect(body['accepted']).toBe(40);
  expect(await live.reading(await live.published())).toMatchObject({ status: 'completed' });
  const batch = await test.call('GET', `/api/v1/batches/${String(body['batchId'])}`);
  expect(batch.body).toMatchObject({ states: { queued: 40 } });
});
