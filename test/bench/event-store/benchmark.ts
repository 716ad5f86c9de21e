import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, ratio, type Benchmark, type Settings } from '../report.js';
import { appendRate, events, readRate, roundTripSeconds, serve, syncSeconds, type Served } from './load.js';
import { PAYLOAD } from './payload.js';

/** Events of the large store, ten to a stream. */
const LARGE = 1_000_000;
/** Events that are read. */
const READ_EVENTS = 40_000;

/** The best of three: what else the machine does only ever slows a rate down. */
const best = async (measure: () => Promise<number>): Promise<number> =>
  Math.max(await measure(), await measure(), await measure());

const measureAppends = async (
  { client, echoPort }: Served,
  folder: string,
  { seconds, add }: Settings,
): Promise<number> => {
  const durable = await appendRate(client, seconds, 128);
  const unsynced = await serve('store', join(folder, 'unsynced'), 'nosync');
  const floor = await appendRate(unsynced.client, seconds, 128);
  await unsynced.stop();
  add(ratio('append, 128 in flight; floor: without syncing', durable, floor, 0.6));
  const alone = await appendRate(client, seconds, 1);
  const parts = syncSeconds(folder) + 2 * (await roundTripSeconds(echoPort));
  add(ratio('append, 1 in flight; floor: fsync + 2 round trips', alone, 1 / parts, 0.7));
  return durable;
};

const measureReads = async ({ client }: Served, { add }: Settings): Promise<void> => {
  for (let n = 0; n < READ_EVENTS; n += 500) await client.appendToStream('read', events(500));
  const canned = await serve('canned', String(READ_EVENTS));
  const floor = await best(() => readRate(canned.client.readAll({ maxCount: READ_EVENTS }), READ_EVENTS));
  const reading = await best(() => readRate(client.readAll({ maxCount: READ_EVENTS }), READ_EVENTS));
  add(ratio('readAll; floor: canned answers', reading, floor, 0.9));
  const catchUp = await best(async () => {
    const subscription = client.subscribeToAll();
    const rate = await readRate(subscription, READ_EVENTS);
    // Not awaited: the client waits for the end of a stream that leaving the loop has destroyed.
    void subscription.unsubscribe();
    return rate;
  });
  add(ratio('catch-up; floor: canned answers', catchUp, floor, 0.9));
  await canned.stop();
};

const measureSubscriptions = async ({ client }: Served, { seconds, add }: Settings): Promise<void> => {
  const floor = await appendRate(client, seconds, 128);
  const idle = Array.from({ length: 1_000 }, (_, n) => client.subscribeToStream(`idle-${n}`));
  await Promise.all(idle.map((one) => new Promise((resolve) => one.once('confirmation', resolve))));
  const rate = await appendRate(client, seconds, 128);
  add(ratio('append with 1,000 idle subscriptions; floor: with none', rate, floor, 0.8));
  await Promise.all(idle.map((one) => one.unsubscribe()));
};

const fill = async ({ client }: Served, count: number): Promise<void> => {
  const total = Math.ceil(count / 10);
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < total) await client.appendToStream(`large-${next++}`, events(10));
  };
  await Promise.all(Array.from({ length: 64 }, writer));
};

const measureLargeStore = async (
  folder: string,
  emptyRate: number,
  { seconds, count = LARGE, add, say }: Settings,
): Promise<void> => {
  const name = `${count.toLocaleString('en-US')} events in ${(count / 10).toLocaleString('en-US')} streams`;
  say(`  Filling: ${name}…`);
  const dataDir = join(folder, 'large');
  const filling = await serve('store', dataDir);
  await fill(filling, count);
  await filling.stop();
  const space = statSync(join(dataDir, 'data', 'data.mdb')).size / (count * PAYLOAD.length);
  const served = await serve('store', dataDir);
  add(atMost(`${name}: restart to serving`, served.startMs / 1_000, 's', 2));
  const rate = await appendRate(served.client, seconds, 128);
  add(ratio(`${name}: append, 128 in flight; floor: empty store`, rate, emptyRate, 0.8));
  add(atMost(`${name}: resident memory`, served.residentMib(), 'MiB', 250));
  add(atMost(`${name}: file`, space, '× payload', 3));
  await served.stop();
};

/** The embedded event store, in a process of its own. */
export const eventStoreBenchmark: Benchmark = {
  name: 'event-store',
  title: 'The embedded event store',
  explanation: `A server in its own process, one official client, ${PAYLOAD.length}-byte JSON, one event to an append, over 1,000 streams.
Canned answers come from a server that encodes one event once and sends it again and again: what the client can decode.`,
  async run(settings) {
    const folder = mkdtempSync(join(tmpdir(), 'event-store-bench-'));
    try {
      const empty = await serve('store', join(folder, 'empty'));
      const emptyRate = await measureAppends(empty, folder, settings);
      await measureSubscriptions(empty, settings);
      await empty.stop();
      const readable = await serve('store', join(folder, 'readable'));
      await measureReads(readable, settings);
      await readable.stop();
      await measureLargeStore(folder, emptyRate, settings);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
