import { Integrator, person } from '../../support/integrator.js';
import { startStack, type StartedStack } from '../../support/start-stack.js';
import { atMost, ratio, type Row } from '../report.js';
import { fillStore } from './fill-store.js';
import { measureInTurns, withRefusals, type Load } from './load.js';
import { somebody } from './somebody.js';

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
  for (let made = 0; made < READ; made += 1)
    readings.push((await customer.create(somebody(made))).body.readingId);
  for (const readingId of readings) await customer.untilEnded(readingId);
  process.kill(stack.pids().worker, 'SIGSTOP');
  const headers = { 'x-api-key': customer.apiKey };
  return {
    stack,
    reading: readings[0]!,
    get: {
      method: 'GET',
      expect: 200,
      seconds,
      headers,
      url: stack.baseUrl,
      paths: readings.map((id) => `/api/v1/readings/${id}`),
    },
    post: {
      method: 'POST',
      expect: 202,
      seconds,
      headers,
      url: `${stack.baseUrl}/api/v1/readings`,
      body: JSON.stringify(person()),
    },
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
      const [many, none] = await measureInTurns([full[kind], empty[kind]]);
      const row = ratio(
        `${what} with ${MANY_READINGS} more failed readings in the store; floor: without`,
        many!.perSecond,
        none!.perSecond,
        0.9,
      );
      rows.push(withRefusals(row, many!, none!));
    }
  } finally {
    await Promise.all([full.stack.killAll(), empty.stack.killAll()]);
  }
  const startedAt = performance.now();
  const again = await startStack({ dataDir: folders.full });
  const took = (performance.now() - startedAt) / 1_000;
  await again.killAll();
  return [
    ...rows,
    atMost(
      `start of the stack with ${MANY_READINGS} failed readings in it, after kill -9 of all of it`,
      took,
      's',
      6,
    ),
  ];
};
