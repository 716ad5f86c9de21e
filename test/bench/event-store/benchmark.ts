import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { streamNameFilter } from '#embedded-event-store/testing/client.js';
import { concurrently, highest, inFolder } from '../measure.js';
import { atMost, ratio, type Benchmark, type Settings } from '../report.js';
import { appendRate, events, readRate, serve, syncRate, type Served, PAYLOAD } from './load.js';

/** Events in the large store, ten per stream. */
const LARGE = 1_000_000;
/** Consumers of a worker follow the log, each its own events. */
const FOLLOWERS = 15;
/** Events to read. */
const READ_EVENTS = 40_000;

const measureAppends = async (
  { client }: Served,
  folder: string,
  { seconds, add }: Settings,
): Promise<void> => {
  const unsynced = await serve('store', join(folder, 'unsynced'), 'nosync');
  const [durable, floor] = await highest(
    2,
    () => appendRate(client, seconds, 128),
    () => appendRate(unsynced.client, seconds, 128),
  );
  await unsynced.stop();
  add(ratio('append, 128 in flight; floor: without syncing', durable, floor, 0.6));

  const canned = await serve('canned', '1');
  const [alone, answers, syncs] = await highest(
    3,
    () => appendRate(client, seconds, 1),
    () => appendRate(canned.client, seconds, 1),
    () => Promise.resolve(syncRate(folder)),
  );
  await canned.stop();
  add(ratio('append, 1 in flight; floor: fsync + canned answer', alone, 1 / (1 / syncs + 1 / answers), 0.7));
};

const measureReads = async ({ client }: Served, { add }: Settings): Promise<void> => {
  for (let n = 0; n < READ_EVENTS; n += 500) await client.appendToStream('read', events(500));
  const canned = await serve('canned', String(READ_EVENTS));
  const readAll = (from: Served['client']) => () =>
    readRate(from.readAll({ maxCount: READ_EVENTS }), READ_EVENTS);
  const [reading, floor] = await highest(4, readAll(client), readAll(canned.client));
  add(ratio('readAll; floor: canned answers', reading, floor, 0.9));
  const catchUp = (from: Served['client']) => async (): Promise<number> => {
    const subscription = from.subscribeToAll();
    const rate = await readRate(subscription, READ_EVENTS);
    // Not awaited: leaving the loop destroyed the stream, and the client would wait for its end.
    void subscription.unsubscribe();
    return rate;
  };
  const [caughtUp, again] = await highest(4, catchUp(client), catchUp(canned.client));
  add(ratio('catch-up; floor: canned answers', caughtUp, again, 0.9));
  await canned.stop();
};

const measureSubscriptions = async (
  { client }: Served,
  folder: string,
  { seconds, add }: Settings,
): Promise<void> => {
  const followed = await serve('store', join(folder, 'followed'));
  const idle = Array.from({ length: FOLLOWERS }, (_, n) =>
    followed.client.subscribeToAll({ filter: streamNameFilter({ prefixes: [`idle-${n}`] }) }),
  );
  await Promise.all(idle.map((one) => once(one, 'confirmation')));
  const [rate, floor] = await highest(
    2,
    () => appendRate(followed.client, seconds, 128),
    () => appendRate(client, seconds, 128),
  );
  add(ratio(`append with ${FOLLOWERS} subscriptions to other events; floor: with none`, rate, floor, 0.8));
  for (const one of idle) one.on('error', () => undefined);
  await followed.stop();
};

const measureLargeStore = async (
  folder: string,
  { seconds, count = LARGE, add, say }: Settings,
): Promise<void> => {
  const name = `${count.toLocaleString('en-US')} events in ${(count / 10).toLocaleString('en-US')} streams`;
  say(`  Filling: ${name}…`);
  const dataDir = join(folder, 'large');
  const filling = await serve('store', dataDir);
  const fill = (n: number) => filling.client.appendToStream(`large-${n}`, events(10));
  await concurrently(64, Math.ceil(count / 10), fill);
  await filling.stop();
  const space = statSync(join(dataDir, 'data', 'data.mdb')).size / (count * PAYLOAD.length);
  const served = await serve('store', dataDir);
  add(atMost(`${name}: restart to serving`, served.startMs / 1_000, 's', 2));
  const empty = await serve('store', join(folder, 'empty-beside-large'));
  const [rate, floor] = await highest(
    2,
    () => appendRate(served.client, seconds, 128),
    () => appendRate(empty.client, seconds, 128),
  );
  await empty.stop();
  add(ratio(`${name}: append, 128 in flight; floor: empty store`, rate, floor, 0.8));
  add(atMost(`${name}: resident memory`, served.residentMib(), 'MiB', 250));
  add(atMost(`${name}: file`, space, '× payload', 3));
  await served.stop();
};

/** Measures the embedded event store in a separate process. */
export const eventStoreBenchmark: Benchmark = {
  name: 'event-store',
  title: 'The embedded event store',
  explanation: `A server in its own process, one official client, ${PAYLOAD.length}-byte JSON, one event to an append, over 1,000 streams.
Canned answers come from a server that encodes one event once and sends it again and again: what the client can decode.`,
  run: (settings) =>
    inFolder(async (folder) => {
      const empty = await serve('store', join(folder, 'empty'));
      await measureAppends(empty, folder, settings);
      await measureSubscriptions(empty, folder, settings);
      await empty.stop();
      const readable = await serve('store', join(folder, 'readable'));
      await measureReads(readable, settings);
      await readable.stop();
      await measureLargeStore(folder, settings);
    }),
};
