import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  connectClient,
  newEvent,
  type EventStoreDBClient,
  type JSONEventData,
} from '#embedded-event-store/testing/client.js';
import { projectPath } from '#platform/project-path.js';
import { memoryMiB, startNode } from '../processes.js';

/** Data of a measured event: 300 bytes of JSON. */
export const DATA = { text: 'x'.repeat(289) };

export const PAYLOAD = Buffer.from(JSON.stringify(DATA));

/** A server in a separate process, with a client. */
export interface Served {
  readonly client: EventStoreDBClient;
  readonly startMs: number;
  /** Resident memory, MiB (Linux). */
  readonly residentMib: () => number;
  readonly stop: () => Promise<void>;
}

export const serve = async (...args: string[]): Promise<Served> => {
  const startedAt = performance.now();
  const child = await startNode([projectPath('dist/test/bench/event-store/server.js'), ...args]);
  const startMs = performance.now() - startedAt;
  const { port, pid } = JSON.parse(child.line) as { port: number; pid: number };
  const client = connectClient(`esdb://127.0.0.1:${String(port)}?tls=false`);
  return {
    client,
    startMs,
    residentMib: () => memoryMiB(pid),
    stop: async () => {
      // Not awaited: the client waits forever for a stream that was left early.
      void client.dispose();
      if (child.process.exitCode !== null) throw new Error('A measured server ended by itself.');
      await child.stop();
    },
  };
};

export const events = (count: number): JSONEventData[] =>
  Array.from({ length: count }, () => newEvent('Measured', DATA));

/** Repeats a step in `inFlight` concurrent loops. @returns steps per second, without a warm-up second */
const rate = async (seconds: number, inFlight: number, step: () => Promise<unknown>): Promise<number> => {
  let count = 0;
  const loop = async (until: number): Promise<void> => {
    for (; performance.now() < until; count += 1) await step();
  };
  const loops = (until: number) => Promise.all(Array.from({ length: inFlight }, () => loop(until)));
  await loops(performance.now() + 1_000);
  count = 0;
  const startedAt = performance.now();
  await loops(startedAt + seconds * 1_000);
  return (count * 1_000) / (performance.now() - startedAt);
};

let streams = 0;

/** Durable appends per second, one event each, over 1,000 streams. */
export const appendRate = (client: EventStoreDBClient, seconds: number, inFlight: number): Promise<number> =>
  rate(seconds, inFlight, () => client.appendToStream(`bench-${String(streams++ % 1_000)}`, events(1)));

/** Items per second, measured over the first `count` items of an iterable. */
export const readRate = async (source: AsyncIterable<unknown>, count: number): Promise<number> => {
  const startedAt = performance.now();
  let seen = 0;
  for await (const _ of source) if (++seen >= count) break;
  return (seen * 1_000) / (performance.now() - startedAt);
};

/** How often a second one page can be written and synced on the disk of a folder. */
export const syncRate = (folder: string): number => {
  const path = join(folder, 'fsync');
  const file = openSync(path, 'w');
  const page = Buffer.alloc(4_096);
  const rounds = 300;
  const startedAt = performance.now();
  for (let n = 0; n < rounds; n++) {
    writeSync(file, page);
    fsyncSync(file);
  }
  const elapsed = performance.now() - startedAt;
  closeSync(file);
  rmSync(path);
  return (rounds * 1_000) / elapsed;
};
