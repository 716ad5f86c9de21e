import { randomBytes, randomUUID } from 'node:crypto';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { connectClient } from '#embedded-event-store/testing/client.js';
import type { Projection } from '#event-sourcing/projections/projection.js';
import {
  rebuild,
  REBUILDING_SESSION,
  dropVersions,
  type Workshop,
} from '#event-sourcing/projections/rebuild.js';
import { openPool } from '#platform/postgres/pool.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { readingsProjections } from '#readings/projections.js';
import { startPostgres } from '../../support/start-postgres.js';
import { connect } from '../billing/books.js';
import { concurrently, inTurns, inFolder } from '../measure.js';
import { serveStore, cpuMilliseconds } from '../processes.js';
import { ratio, type Benchmark, type Row, type Settings } from '../report.js';

/** Events of one published reading, in its two streams. */
const EVENTS_PER_READING = 5;
const WRITERS = 64;
const AT = '2026-04-12T10:00:00.000Z';
const WORKSPACE = 'ws_0000000000000000000001';

/** Sealed bytes of the same length as those of a real reading. */
const SEALED_INPUT = randomBytes(186).toString('base64');
const SEALED_RESULT = randomBytes(4_395).toString('base64');

/** Appends published readings: many concurrently, as a busy service does. */
const fillWithReadings = async (store: EventStore, readings: number): Promise<void> => {
  await concurrently(WRITERS, readings, async () => {
    const id = randomUUID();
    const own = { workspaceId: WORKSPACE, livemode: true };
    const publication = { ...own, version: 1, artifactId: id, publishedAt: AT };
    await store.append(`reading-${id}`, 'no_stream', [
      event('ReadingRequested', {
        ...own,
        productId: 'theme',
        profileId: 'evan',
        locale: 'fr-FR',
        asOf: '2026-04-12',
        sealedInput: SEALED_INPUT,
        cost: 20,
        reservationId: id,
      }),
      event('ReadingStarted', { attempt: 1, workerId: 'worker', leaseUntil: AT }),
    ]);
    const completed = { ...own, attempt: 1, reservationId: id, sealedResult: SEALED_RESULT };
    await store.append(`reading-${id}`, 1n, [event('ReadingCompleted', completed)]);
    const requested = event('PublicationRequested', { ...publication, paper: 'a4' });
    await store.append(`publication-${id}`, 'no_stream', [requested]);
    const published = { ...publication, formats: FORMATS, contentVersion: '2026.11.2' };
    await store.append(`publication-${id}`, 0n, [event('DocumentPublished', published)]);
  });
};

const FORMATS = (['document_v1', 'markdown', 'pdf'] as const).map((format) => ({
  format,
  mediaType: 'application/octet-stream',
  digest: 'b'.repeat(64),
  bytes: 40_000,
}));

const event = (type: string, data: object): EventToAppend => ({
  id: randomUUID(),
  type,
  data,
  metadata: {
    correlationId: 'req_0000000000000000000001',
    causationId: 'req_0000000000000000000001',
    workspaceId: WORKSPACE,
    actor: 'system:readings.generate',
    occurredAt: AT,
    schemaVersion: 1,
    traceparent: '00-00000000000000000000000000000000-0000000000000000-01',
  },
});

const EVENTS = 200_000;
const ROUNDS = 2;
/** Memory growth between the first and the last third of a rebuild that still counts as flat, MiB. */
const FLAT_MIB = 32;

const status = readingsProjections(documentPublisher.feed)[0]!;

interface Cost {
  /** Events per second. */
  readonly rate: number;
  /** CPU time of an event, this process, the event store and PostgreSQL together, microseconds. */
  readonly cpu: number;
}

/** @param work handles events, and returns how many they were */
const costOf = async (work: () => Promise<number>): Promise<Cost> => {
  const [startedAt, before] = [performance.now(), cpuMilliseconds(process.pid)];
  const events = await work();
  return {
    rate: (events * 1_000) / (performance.now() - startedAt),
    cpu: ((cpuMilliseconds(process.pid) - before) * 1_000) / events,
  };
};

/** What it costs that the official client delivers all events, without handling them. */
const rawCatchUp = (url: string, events: number): Promise<Cost> =>
  costOf(async () => {
    const client = connectClient(url);
    let seen = 0;
    const subscription = client.subscribeToAll();
    for await (const _ of subscription) if ((seen += 1) >= events) break;
    // Not awaited: leaving the loop destroyed the stream, and the client would wait for its end.
    void client.dispose();
    return seen;
  });

interface Rebuilt extends Cost {
  /** Peak memory in use (heap and buffers) in the first and in the last third, MiB. */
  readonly first: number;
  readonly last: number;
}

const timedRebuild = async (workshop: Workshop, projection: Projection): Promise<Rebuilt> => {
  let [first, last] = [0, 0];
  const onProgress = ({ fraction }: { fraction: number }): void => {
    const { heapUsed, external } = process.memoryUsage();
    const used = (heapUsed + external) / 2 ** 20;
    if (fraction < 1 / 3) first = Math.max(first, used);
    if (fraction > 2 / 3) last = Math.max(last, used);
  };
  const cost = await costOf(async () => (await rebuild(workshop, projection, { onProgress })).events);
  return { ...cost, first, last };
};

const measure = async (
  workshop: Workshop,
  url: string,
  { add, count = EVENTS, say }: Settings,
): Promise<void> => {
  const { pool, store } = workshop;
  const events = Math.floor(count / EVENTS_PER_READING) * EVENTS_PER_READING;
  say(`  Filling: ${events} events of ${events / EVENTS_PER_READING} readings…`);
  await fillWithReadings(store, events / EVENTS_PER_READING);
  await pool.query('insert into event_sourcing.consumer (name, position) values ($1, $2)', [
    status.name,
    String(await store.head()),
  ]);
  const [raw, rebuilt] = await inTurns<[Cost, Rebuilt]>(
    ROUNDS,
    () => rawCatchUp(url, events),
    async () => {
      await dropVersions(workshop, status, { unfinished: true });
      return timedRebuild(workshop, status);
    },
  );
  const best = rebuilt.toSorted((one, other) => other.rate - one.rate)[0]!;
  add(
    ratio(
      `rebuild of ${status.name}, ${events} events; floor: the client catches up and does nothing`,
      best.rate,
      Math.max(...raw.map(({ rate }) => rate)),
      0.75,
    ),
  );
  add(byCpu(Math.min(...rebuilt.map(({ cpu }) => cpu)), Math.min(...raw.map(({ cpu }) => cpu))));
  add(flat(events, best));
};

/** Comparable on a machine that others use, too. @param measured and its floor, in microseconds */
const byCpu = (measured: number, floor: number): Row => ({
  what: 'the same by CPU time for an event, all processes',
  measured: `${measured.toFixed(1)} µs`,
  floor: `${floor.toFixed(1)} µs`,
  value: floor / measured,
  aim: '≥ 0.75',
  met: floor / measured >= 0.75,
});

const flat = (events: number, { first, last }: Rebuilt): Row => ({
  what: `memory in use during it, first and last third of ${events} events`,
  measured: `${first.toFixed(0)} and ${last.toFixed(0)} MiB`,
  aim: `flat: + ≤ ${FLAT_MIB} MiB`,
  met: last - first <= FLAT_MIB,
});

/** Measures a rebuild of a read model from the log. */
export const projectionsBenchmark: Benchmark = {
  name: 'projections',
  title: 'Rebuilding a read model',
  explanation: `The projection of readings, rebuilt from a log of published readings with ${EVENTS_PER_READING} events of 9 kB each, on the
embedded event store and PostgreSQL in separate processes. The floor is the official client on the same log.`,
  run: (settings) =>
    inFolder(async (folder) => {
      const served = await serveStore(folder);
      const postgres = await startPostgres();
      const pool = openPool(postgres.databaseUrl, {
        size: 5,
        applicationName: 'bench',
        sessionSettings: REBUILDING_SESSION,
        onError: () => undefined,
      });
      const store = await connect(served.url);
      const log = { warn: () => undefined, error: () => undefined };
      try {
        await measure({ pool, store, log, program: 'bench' }, served.url, settings);
      } finally {
        await store.close();
        await pool.end();
        await postgres.stop();
        await served.stop();
      }
    }),
};
