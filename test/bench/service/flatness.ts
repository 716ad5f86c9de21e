import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { encode } from '#event-sourcing/core/event-catalogue.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { connect } from '../billing/books.js';
import { concurrently, timed } from '../measure.js';
import { readingEvents } from '#readings/contracts/events.js';
import { type StartedStack, startStack } from '../../support/start-stack.js';
import { Integrator, person } from '../../support/integrator.js';
import { atMost, ratio, type Row } from '../report.js';
import { measureInTurns, withRefusals, type Load } from './load.js';
import { somebody } from './somebody.js';

/** Streams written concurrently. */
const IN_FLIGHT = 256;
const WORKSPACE = 'ws_of_the_benchmark';

/**
 * Fills the stores with readings of another workspace that failed long ago: their streams, rows and keys. The
 * worker must be stopped permanently, or it would start to process them.
 * @param template a reading whose row the new rows copy
 */
const fillStore = async (stack: StartedStack, readings: number, template: string): Promise<void> => {
  const store = await connect(stack.eventStoreUrl);
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  try {
    const ids = Array.from({ length: readings }, () => randomUUID());
    await concurrently(IN_FLIGHT, readings, (n) => store.append(...lifeOf(ids[n]!)));
    await database.query(
      `insert into readings.reading
       select (jsonb_populate_record(template, jsonb_build_object('reading_id', id, 'workspace_id', $2::text))).*
       from unnest($1::uuid[]) as id, readings.reading as template where template.reading_id = $3`,
      [ids, WORKSPACE, template],
    );
    await database.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key)
       select id, $2, wrapped_key from unnest($1::uuid[]) as id, platform.subject_key where subject_id = $3`,
      [ids, WORKSPACE, template],
    );
    // In a service, readings accumulate over weeks and autovacuum keeps up. Here it would run during the measurement.
    await database.query('vacuum (analyze) readings.reading, platform.subject_key');
    await database.query('checkpoint');
  } finally {
    await database.end();
    await store.close();
  }
};

/** The stream of a reading that was requested and failed. */
const lifeOf = (readingId: string): Parameters<EventStore['append']> => {
  const own = { workspaceId: WORKSPACE, livemode: true, reservationId: randomUUID() };
  const requested = {
    ...own,
    productId: 'theme',
    profileId: 'evan',
    locale: 'fr-FR',
    asOf: '2026-01-01',
    sealedInput: Buffer.alloc(240, 7).toString('base64'),
    cost: 20,
  };
  const events = [
    encode(readingEvents, 'ReadingRequested', requested),
    encode(readingEvents, 'ReadingFailed', { ...own, code: 'generation_failed', attempts: 5 }),
  ].map(({ data, version }, place) => ({
    id: randomUUID(),
    type: place === 0 ? 'ReadingRequested' : 'ReadingFailed',
    data,
    metadata: {
      actor: 'system:benchmark',
      correlationId: readingId,
      causationId: readingId,
      workspaceId: WORKSPACE,
      occurredAt: '2026-01-01T00:00:00.000Z',
      schemaVersion: version,
    },
  }));
  return [streamName(readingEvents.category, readingId), 'no_stream', events];
};

/** Readings in the full store. */
export const MANY_READINGS = 200_000;
/** Each load lasts this many times as long as others: a small difference needs more requests. */
const LONGER = 5;
/** Published readings that are read in turns. */
const READ = 20;

interface Loaded {
  readonly stack: StartedStack;
  readonly reading: string;
  readonly get: Load;
  readonly post: Load;
}

/** A stack with a few published readings, and its worker paused, so that only the API is measured. */
const startLoaded = async (dataDir: string, seconds: number): Promise<Loaded> => {
  const stack = await startStack({ dataDir, env: { LOG_LEVEL: 'warn' } });
  const customer = await Integrator.open(stack, 100_000_000);
  const readings: string[] = [];
  for (let made = 0; made < READ; made += 1) readings.push(await customer.published(somebody(made)));
  process.kill(stack.pids().worker, 'SIGSTOP');
  const asked = { seconds, headers: { 'x-api-key': customer.apiKey } };
  const paths = readings.map((id) => `/api/v1/readings/${id}`);
  const post = { url: `${stack.baseUrl}/api/v1/readings`, body: JSON.stringify(person()) };
  return {
    stack,
    reading: readings[0]!,
    get: { ...asked, method: 'GET', expect: 200, url: stack.baseUrl, paths },
    post: { ...asked, method: 'POST', expect: 202, ...post },
  };
};

/**
 * Compares a stack whose store holds many readings with an empty one beside it, in turns. Then restarts the
 * full one after a kill -9.
 * @param folders data folders of the two
 */
export const measureFlatness = async (
  folders: { full: string; empty: string },
  seconds: number,
): Promise<Row[]> => {
  const full = await startLoaded(folders.full, LONGER * seconds);
  const empty = await startLoaded(folders.empty, LONGER * seconds).catch(async (error: unknown) => {
    await full.stack.killAll();
    throw error;
  });
  const rows: Row[] = [];
  try {
    await fillStore(full.stack, MANY_READINGS, full.reading);
    for (const [what, kind] of [
      ['GET /readings/{id}', 'get'],
      ['POST /readings', 'post'],
    ] as const) {
      const [many, none] = await measureInTurns(full[kind], empty[kind]);
      const row = ratio(
        `${what} with ${MANY_READINGS} more failed readings in the store; floor: without`,
        many.perSecond,
        none.perSecond,
        0.9,
      );
      rows.push(withRefusals(row, many, none));
    }
  } finally {
    await Promise.all([full.stack.killAll(), empty.stack.killAll()]);
  }
  let again!: StartedStack;
  const took = await timed(async () => (again = await startStack({ dataDir: folders.full })));
  await again.killAll();
  return [
    ...rows,
    atMost(
      `start of the stack with ${MANY_READINGS} failed readings in it, after kill -9 of all of it`,
      took / 1_000,
      's',
      6,
    ),
  ];
};
