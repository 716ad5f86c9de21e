import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  connectClient,
  newEvent,
  type EventStoreDBClient,
  type JSONEventData,
} from '#embedded-event-store/testing/client.js';
import { projectPath } from '#platform/project-path.js';
import { startNode } from '../child.js';
import { DATA, PAYLOAD } from './payload.js';

/** A server in a separate process, with a client. */
export interface Served {
  readonly client: EventStoreDBClient;
  readonly echoPort: number;
  readonly startMs: number;
  /** Resident memory, MiB (Linux). */
  readonly residentMib: () => number;
  readonly stop: () => Promise<void>;
}

export const serve = async (...args: string[]): Promise<Served> => {
  const startedAt = performance.now();
  const child = await startNode([projectPath('dist/test/bench/event-store/server.js'), ...args]);
  const startMs = performance.now() - startedAt;
  const { port, echo, pid } = JSON.parse(child.line) as { port: number; echo?: number; pid: number };
  const client = connectClient(`esdb://127.0.0.1:${String(port)}?tls=false`);
  return {
    client,
    echoPort: echo ?? 0,
    startMs,
    residentMib: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) / 1024,
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
export const rate = async (
  seconds: number,
  inFlight: number,
  step: () => Promise<unknown>,
): Promise<number> => {
  const loops = async (until: number): Promise<number> => {
    const counts = await Promise.all(
      Array.from({ length: inFlight }, async () => {
        let count = 0;
        while (performance.now() < until) {
          await step();
          count++;
        }
        return count;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await loops(performance.now() + 1_000);
  const startedAt = performance.now();
  const steps = await loops(startedAt + seconds * 1_000);
  return (steps * 1_000) / (performance.now() - startedAt);
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

/** Seconds to write and sync one page on the disk of a folder. */
export const syncSeconds = (folder: string): number => {
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
  return elapsed / rounds / 1_000;
};

/** Seconds for a round trip of the payload to another process. */
export const roundTripSeconds = async (port: number): Promise<number> => {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  const rounds = 2_000;
  const startedAt = performance.now();
  for (let n = 0; n < rounds; n++) {
    socket.write(PAYLOAD);
    for (let got = 0; got < PAYLOAD.length;) got += ((await once(socket, 'data')) as [Buffer])[0].length;
  }
  const elapsed = performance.now() - startedAt;
  socket.destroy();
  return elapsed / rounds / 1_000;
};
