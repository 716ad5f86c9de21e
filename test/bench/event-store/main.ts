import { Command } from 'commander';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendRate, events, readRate, roundTripSeconds, serve, syncSeconds, type Served } from './load.js';
import { PAYLOAD } from './payload.js';

const options = new Command('bench-event-store')
  .description(
    'Measures the embedded event store against floors of the same run and prints a Markdown table.',
  )
  .option('--seconds <n>', 'length of each load', Number, 5)
  .option('--events <n>', 'events of the large store, ten to a stream', Number, 1_000_000)
  .option('--json', 'print one JSON object')
  .parse()
  .opts<{ seconds: number; events: number; json?: boolean }>();

interface Row {
  readonly what: string;
  readonly measured: string;
  readonly floor: string;
  /** The measured number, or its ratio to the floor. */
  readonly value: number;
  readonly aim: string;
  readonly met: boolean;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const rows: Row[] = [];
const add = (row: Row): void => {
  rows.push(row);
  say(`${row.what}: ${row.measured}, ${row.value.toFixed(2)} (${row.aim})`);
};

const perSecond = (value: number): string => `${value.toFixed(0)}/s`;
const ratio = (what: string, measured: number, floor: number, least: number): void => {
  const value = measured / floor;
  const met = value >= least;
  add({
    what,
    measured: perSecond(measured),
    floor: perSecond(floor),
    value,
    aim: `≥ ${String(least)}`,
    met,
  });
};
const atMost = (what: string, value: number, unit: string, most: number): void => {
  const measured = `${value.toFixed(1)} ${unit}`;
  add({ what, measured, floor: '', value, aim: `≤ ${String(most)} ${unit}`, met: value <= most });
};

const folder = mkdtempSync(join(tmpdir(), 'event-store-bench-'));
const { seconds } = options;
const READ_EVENTS = 40_000;

const measureAppends = async (empty: Served): Promise<number> => {
  say('Appends…');
  const durable = await appendRate(empty.client, seconds, 128);
  const unsynced = await serve('store', join(folder, 'unsynced'), 'nosync');
  ratio(
    'append, 128 in flight; floor: without syncing',
    durable,
    await appendRate(unsynced.client, seconds, 128),
    0.6,
  );
  await unsynced.stop();
  const floor = 1 / (syncSeconds(folder) + 2 * (await roundTripSeconds(empty.echoPort)));
  ratio(
    'append, 1 in flight; floor: fsync + 2 round trips',
    await appendRate(empty.client, seconds, 1),
    floor,
    0.7,
  );
  return durable;
};

const measureReads = async ({ client }: Served): Promise<void> => {
  say('Reads…');
  for (let n = 0; n < READ_EVENTS; n += 500) await client.appendToStream('read', events(500));
  const canned = await serve('canned', String(READ_EVENTS));
  const best = async (measure: () => Promise<number>): Promise<number> =>
    Math.max(await measure(), await measure(), await measure());
  const floor = await best(() => readRate(canned.client.readAll({ maxCount: READ_EVENTS }), READ_EVENTS));
  const reading = await best(() => readRate(client.readAll({ maxCount: READ_EVENTS }), READ_EVENTS));
  ratio('readAll; floor: canned answers', reading, floor, 0.9);
  const catchUp = await best(async () => {
    const subscription = client.subscribeToAll();
    const measured = await readRate(subscription, READ_EVENTS);
    await subscription.unsubscribe();
    return measured;
  });
  ratio('catch-up; floor: canned answers', catchUp, floor, 0.9);
  await canned.stop();
};

const measureSubscriptions = async ({ client }: Served): Promise<void> => {
  say('Idle subscriptions…');
  const floor = await appendRate(client, seconds, 128);
  const idle = Array.from({ length: 1_000 }, (_, n) => client.subscribeToStream(`idle-${String(n)}`));
  await Promise.all(idle.map((one) => new Promise((resolve) => one.once('confirmation', resolve))));
  ratio(
    'append with 1,000 idle subscriptions; floor: with none',
    await appendRate(client, seconds, 128),
    floor,
    0.8,
  );
  await Promise.all(idle.map((one) => one.unsubscribe()));
};

const fill = async ({ client }: Served, count: number): Promise<void> => {
  const total = Math.ceil(count / 10);
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < total) await client.appendToStream(`large-${String(next++)}`, events(10));
  };
  await Promise.all(Array.from({ length: 64 }, writer));
};

const measureLargeStore = async (emptyRate: number): Promise<void> => {
  const count = options.events;
  say(`${String(count)} events…`);
  const dataDir = join(folder, 'large');
  const filling = await serve('store', dataDir);
  await fill(filling, count);
  await filling.stop();
  const space = statSync(join(dataDir, 'data', 'data.mdb')).size / (count * PAYLOAD.length);
  const served = await serve('store', dataDir);
  const name = `${String(count)} events in ${String(count / 10)} streams`;
  atMost(`${name}: restart to serving`, served.startMs / 1_000, 's', 2);
  ratio(
    `${name}: append, 128 in flight; floor: empty store`,
    await appendRate(served.client, seconds, 128),
    emptyRate,
    0.8,
  );
  atMost(`${name}: resident memory`, served.residentMib(), 'MiB', 250);
  atMost(`${name}: file`, space, '× payload', 3);
  await served.stop();
};

const markdown = (): string => `| what | measured | floor | value | aim | met |
|---|---|---|---|---|---|
${rows.map(({ what, measured, floor, value, aim, met }) => `| ${what} | ${measured} | ${floor} | **${value.toFixed(2)}** | ${aim} | ${met ? 'yes' : 'no'} |`).join('\n')}

${String(cpus().length)} × ${cpus()[0]?.model.trim() ?? 'CPU'}, Node ${process.version}, one client, ${String(PAYLOAD.length)}-byte JSON, ${String(seconds)} s a load.
`;

try {
  const empty = await serve('store', join(folder, 'empty'));
  const emptyRate = await measureAppends(empty);
  await measureSubscriptions(empty);
  await empty.stop();
  const readable = await serve('store', join(folder, 'readable'));
  await measureReads(readable);
  await readable.stop();
  await measureLargeStore(emptyRate);
  process.stdout.write(options.json ? `${JSON.stringify(rows)}\n` : markdown());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
