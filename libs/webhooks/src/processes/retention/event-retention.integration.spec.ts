import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { DAY_MS, retentionStatus, runRetention } from '#platform/retention/retention.js';
import { fanningOut } from '../../../test/fanning-out.js';
import { batchEnded, endpoint, failure, reading, testReading } from '../../../test/events.js';
import { webhookRetentions } from '../retention.js';

/** When the events of the helpers happen. */
const HAPPENED = Date.parse('2026-04-04T09:30:00Z');
const NEVER = new AbortController().signal;
const TERMS = {
  WEBHOOK_DELIVERIES_KEPT_DAYS: 90,
  WEBHOOK_EVENTS_KEPT_DAYS: 400,
  WEBHOOK_NOTICES_KEPT_DAYS: 200,
  WEBHOOK_STATS_KEPT_DAYS: 35,
  TEST_DATA_KEPT_DAYS: 30,
};
const AFTER = (days: number) => HAPPENED + days * DAY_MS + 1;

const test = fanningOut();

const subscriber = () =>
  endpoint(`we_${randomUUID()}`).created({ modes: ['live', 'test'], notices: ['batch.ended'] });
const round = async (now: number): Promise<Readonly<Record<string, number>>> => {
  const runs = [];
  for (const one of webhookRetentions(test.database.pool, TERMS))
    runs.push(await runRetention(test.database.pool, one, now, NEVER));
  return Object.fromEntries(runs.flatMap((run) => (run && run.removed > 0 ? [[run.kind, run.removed]] : [])));
};
const kept = async (): Promise<readonly string[]> =>
  (await test.rows<{ type: string }>('select type from webhooks.public_event order by type')).map(
    ({ type }) => type,
  );

describe('Retention', () => {
  it('deletes events, test events and notices when their own terms end, with their deliveries', async () => {
    await test.handle(
      subscriber(),
      reading(randomUUID()).completed(),
      testReading(randomUUID()).completed(),
      batchEnded(randomUUID()),
      batchEnded(randomUUID(), { livemode: false }),
    );
    expect((await test.deliveries()).length).toBe(4);
    expect(await round(AFTER(30) - 1)).toEqual({});
    expect(await round(AFTER(30))).toEqual({ 'test-events': 1, 'test-notices': 1 });
    expect(await kept()).toEqual(['batch.ended', 'reading.completed']);
    expect(await round(AFTER(200) - 1)).toEqual({});
    expect(await round(AFTER(200))).toEqual({ notices: 1 });
    expect(await kept()).toEqual(['reading.completed']);
    expect(await round(AFTER(400) - 1)).toEqual({});
    expect(await round(AFTER(400))).toEqual({ events: 1 });
    expect(await kept()).toEqual([]);
    expect(await test.deliveries()).toEqual([]);
    for (const table of ['delivery', 'settled_delivery', 'notice'])
      expect(await test.rows(`select from webhooks.${table}`)).toEqual([]);
  });

  it('says what is due', async () => {
    await test.handle(subscriber(), reading(randomUUID()).completed(), reading(randomUUID()).completed());
    const [, events] = webhookRetentions(test.database.pool, TERMS);
    const status = await retentionStatus(test.database.pool, events!, AFTER(403));
    expect(status).toMatchObject({
      kind: 'events',
      days: 400,
      oldest: '2026-04-04T09:30:00.000Z',
      due: { rows: 2, partitions: null },
      lagDays: 3,
    });
  });

  it('deletes more than one step holds, also from several processes at once', async () => {
    const many = Array.from({ length: 1_100 }, () => reading(randomUUID()).completed());
    await test.handle(...many, reading(randomUUID()).completed({ at: HAPPENED + DAY_MS }));
    const rounds = await Promise.all([round(AFTER(400)), round(AFTER(400)), round(AFTER(400))]);
    expect(rounds.reduce((sum, one) => sum + (one['events'] ?? 0), 0)).toBe(1_100);
    expect(await kept()).toEqual(['reading.completed']);
  });
});

describe('What retention has deleted', () => {
  it('is not made again when its events are handled again, and not sent', async () => {
    const [completed, batch] = [reading(randomUUID()).completed(), batchEnded(randomUUID())];
    const failed = failure(randomUUID(), HAPPENED);
    await test.handle(subscriber(), completed, batch, ...failed);
    await round(AFTER(400));
    expect(await kept()).toEqual([]);
    await test.handle(completed, batch, ...failed);
    expect(await kept()).toEqual([]);
    expect(await test.deliveries()).toEqual([]);
    expect(await test.rows('select from webhooks.unreleased_failure')).toEqual([]);
    expect(await test.rows('select from webhooks.notice')).toEqual([]);
  });

  it('is counted in the numbers of its reading', async () => {
    const one = reading(randomUUID());
    await test.handle(one.completed(), one.published());
    await round(AFTER(400));
    await test.handle(subscriber(), { ...one.published({ at: AFTER(400) }), id: randomUUID(), revision: 2n });
    expect(await test.deliveries()).toMatchObject([{ type: 'reading.published', sequence: 3 }]);
  });

  it('stays before later events in the feed, although those are of an earlier position', async () => {
    const late = reading(randomUUID()).completed({ at: AFTER(10) });
    await test.handle(reading(randomUUID()).completed());
    const [last] = await test.rows<{ position: string }>('select position from webhooks.public_event');
    await round(AFTER(400));
    await test.handle(late);
    const [added] = await test.rows<{ position: string }>('select position from webhooks.public_event');
    expect(BigInt(added!.position)).toBeGreaterThan(BigInt(last!.position));
  });

  it('does not keep newer events of the workspace, or old ones of other workspaces, from being made', async () => {
    await test.handle(reading(randomUUID()).completed());
    await round(AFTER(400));
    const elsewhere = reading(randomUUID()).completed();
    await test.handle(
      {
        ...elsewhere,
        data: { ...(elsewhere.data as object), workspaceId: 'ws_2' },
        metadata: { ...elsewhere.metadata, workspaceId: 'ws_2' },
      },
      reading(randomUUID()).completed({ at: AFTER(0) }),
    );
    expect(await kept()).toEqual(['reading.completed', 'reading.completed']);
  });
});
