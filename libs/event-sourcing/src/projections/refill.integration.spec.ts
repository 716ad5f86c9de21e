import { beforeAll, expect, it } from '@jest/globals';
import type { RecordedOf } from '../core/event-catalogue.js';
import { askForRetry, parkedStreams } from './parked-streams.js';
import { defineProjection, projectionConsumer, type Projection } from './projection.js';
import { releaseParked } from './release-parked.js';
import { sql } from './statement.js';
import { view } from './view.js';
import { tallyEvents, totalView } from '../testing/tally.js';
import { refill } from './refill.js';
import { NAME, rebuildsUnderTest } from './testing/rebuilds-under-test.js';

interface Flagged {
  readonly stream: string;
  readonly sum: number;
  readonly revision: string;
  readonly flag: boolean;
}

const flagged = view<Flagged, RecordedOf<[typeof tallyEvents]>>({
  table: 'public.flagged',
  key: ['stream'],
  keyOf: ({ stream }) => ({ stream }),
  evolve: (row, { stream, revision }) =>
    row && BigInt(row.revision) >= revision
      ? row
      : { stream, sum: (row?.sum ?? 0) + 1, revision: String(revision), flag: false },
});

const rebuilds = rebuildsUnderTest();
const { append, goLive, liveCaughtUp, dump } = rebuilds;

beforeAll(() =>
  rebuilds.pool.query(`create schema apart;
    create table apart.flagged (stream text primary key, sum integer not null, revision numeric not null, flag boolean not null);
    create table apart.total (stream text primary key, sum integer not null, revision numeric not null)`),
);

it('Filling one table again keeps what is parked for the others', async () => {
  const state = { mended: false };
  const projection: Projection = defineProjection({
    name: NAME,
    catalogues: [tallyEvents],
    views: [totalView, flagged],
    effects: ({ stream }) => (stream === 'tally-bad' && !state.mended ? [sql`select 1 / 0`] : []),
  });
  await append('a', 'bad', 'bad');
  goLive(projection);
  await liveCaughtUp();
  expect(await dump('total')).toEqual(['(tally-a,1,0)']);
  await rebuilds.pool.query('truncate flagged');

  await refill(rebuilds.workshop, projection, {
    lost: ['public.flagged'],
    apart: (table) => table.replace('public.', 'apart.'),
    putBack: () => Promise.resolve(),
  });
  expect(await dump('flagged')).toEqual(['(tally-a,1,0,f)', '(tally-bad,2,1,f)']);
  expect((await parkedStreams(rebuilds.pool, NAME)).map(({ stream }) => stream)).toEqual(['tally-bad']);

  state.mended = true;
  await askForRetry(rebuilds.pool, NAME);
  await releaseParked(projectionConsumer(projection), rebuilds.workshop, 'bad');
  expect(await dump('total')).toEqual(['(tally-a,1,0)', '(tally-bad,2,1)']);
  expect(await dump('flagged')).toEqual(['(tally-a,1,0,f)', '(tally-bad,2,1,f)']);
});
