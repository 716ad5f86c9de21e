import { beforeEach, expect, it } from '@jest/globals';
import { webhookRequests } from '../../../test/webhook-requests.js';
import { ListNewestEvents } from '../../contracts/deliveries.js';
import { ListNewestEventsHandler, NoticeFeed } from '../event-feed.js';

/** Enough for positions of one and of two digits: as texts they have another order. */
const NOTICES = 12;
const PAGE = 5;

const test = webhookRequests();

beforeEach(async () => {
  await test.database.pool.query('truncate webhooks.notice restart identity');
  await test.database.pool.query(
    `insert into webhooks.notice
       (event_id, workspace_id, type, subject, occurrence, livemode, occurred_at, body)
     select 'evt_' || gen_random_uuid(), $1, 'credits.low', $1, number::text, true, now(), '{}'
     from generate_series(1, $2::int) number`,
    [test.ws, NOTICES],
  );
});

const everyPage = async (
  page: (end: string | null) => Promise<readonly { readonly position: string | null }[]>,
): Promise<number[]> => {
  const seen: number[] = [];
  for (let end: string | null = null; ;) {
    const found = await page(end);
    seen.push(...found.map(({ position }) => Number(position)));
    end = found.at(-1)?.position ?? null;
    if (found.length < PAGE) return seen;
  }
};

it('The feed of notices has each once, the oldest first', async () => {
  const feed = new NoticeFeed(test.database.pool);
  const seen = await everyPage((end) => feed.page(test.ws, PAGE, end, ['credits.low'], ['live']));
  expect(seen).toHaveLength(NOTICES);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
});

it('The list of the newest notices has each once, the newest first', async () => {
  const list = new ListNewestEventsHandler(test.database.pool);
  const seen = await everyPage((end) =>
    list.execute(new ListNewestEvents(test.ws, 'live', ['credits.low'], PAGE, end)),
  );
  expect(seen).toHaveLength(NOTICES);
  expect(seen).toEqual(seen.toSorted((one, other) => other - one));
});
