import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { StoreUnavailable, WrongExpectedRevision } from '#event-sourcing/store/errors.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { addedToAppend } from '#event-sourcing/testing/tally.js';
import { projectPath } from '#platform/project-path.js';
import { startChildStore, type ChildStore } from '../contract/event-store/support/child-store.js';

/** What a call of these waits for a server at fault. */
const IMPATIENT = { appendTimeoutMs: 500, readTimeoutMs: 500 };
/** A slow machine answers within these. */
const PATIENT = { appendTimeoutMs: 60_000, readTimeoutMs: 60_000 };
const WRITERS = 50;

/** Faults of @eventstore/db-client 6.2.1, and how the EventStore port handles each. */
describe('a fault of the event store’s client', () => {
  let dataDir: string;
  let server: ChildStore;
  let store: EventStore;
  /** For what no fault should disturb. */
  let patient: EventStore;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'client-faults-'));
    server = await startChildStore(dataDir);
    const { connectionString } = server;
    store = await openEventStore({ connectionString, ...IMPATIENT });
    patient = await openEventStore({ connectionString, ...PATIENT });
  });

  afterAll(async () => {
    await store.close();
    await patient.close();
    await server.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });

  const newStream = (): string => `tally-${randomUUID()}`;
  const oneEvent = () => [addedToAppend(randomUUID(), 'r')];
  const several = (count: number) =>
    Array.from({ length: count }, (_, n) => addedToAppend(randomUUID(), `r${n}`));
  /** Retries an append until it succeeds, as the service does. A busy disk may take longer than one attempt waits. */
  const appendSurely = async (...args: Parameters<EventStore['append']>): Promise<void> => {
    for (;;) {
      try {
        await patient.append(...args);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }
  };
  const collect = async (events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> => {
    const all: StoredEvent[] = [];
    for await (const event of events) all.push(event);
    return all;
  };

  it('1: appends in flight to a killed server, and its late answers, do not end the process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'client-faults-killed-'));
    let killed = await startChildStore(folder);
    const { port } = new URL(killed.connectionString.replace('esdb:', 'http:'));
    const program = projectPath('dist/test/crash/support/appending-process.js');
    const child = spawn(process.execPath, [program, killed.connectionString], { stdio: 'pipe' });
    let [out, said] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const exited = once(child, 'close');
    while (said.length < 32 && child.exitCode === null) await delay(10);
    for (let round = 0; round < 3; round += 1) {
      // Freezes the server until appends time out: the client rejects those again when the connection breaks.
      killed.process.kill('SIGSTOP');
      await delay(1_200);
      await killed.end('SIGKILL');
      killed = await startChildStore(folder, { port: Number(port) });
      await delay(700);
    }
    child.stdin.end();
    expect([said, ...((await exited) as unknown[])]).toEqual([expect.stringMatching(/^\.+$/), 0, null]);
    await killed.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    const { acknowledged, repeated } = JSON.parse(out) as { acknowledged: number; repeated: number };
    expect(acknowledged).toBeGreaterThan(32);
    expect(repeated).toBeGreaterThan(0);
  });

  it('2: an append to a frozen server times out with an unknown outcome, and can be retried', async () => {
    const stream = newStream();
    const events = oneEvent();
    server.process.kill('SIGSTOP');
    const failure = await store.append(stream, 'no_stream', events).catch((error: unknown) => error);
    server.process.kill('SIGCONT');
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(failure).toMatchObject({ outcomeUnknown: true });
    // The server drops a repetition while it still writes the first one.
    await appendSurely(stream, 'no_stream', events);
    expect(await patient.append(stream, 'no_stream', events)).toMatchObject({ revision: 0n });
    expect(await collect(patient.read(stream))).toHaveLength(1);
  });

  it('3: subscriptions that are left early leave no call open', async () => {
    await appendSurely(newStream(), 'no_stream', oneEvent());
    // Three times the server's limit of open calls: with a leak, one would wait for a free call in vain.
    // Not 1,000: Node's HTTP/2 server ends a session that resets so many streams faster than 33 a second.
    for (let round = 0; round < 300; round += 1) {
      const subscription = store.subscribe({ after: null, categories: ['tally'] });
      try {
        for await (const _ of subscription) break;
      } finally {
        await subscription.close();
      }
    }
  });

  it('4: an append at a wrong revision throws an error with the actual one', async () => {
    const stream = newStream();
    await appendSurely(stream, 'no_stream', several(3));
    const failure = await patient.append(stream, 7n, oneEvent()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WrongExpectedRevision);
    expect(failure).toMatchObject({ expected: 7n, actual: 2n });
  });

  it('5: an append to an absent server has its own error, whatever the client raises', async () => {
    const { port } = new URL(server.connectionString.replace('esdb:', 'http:'));
    await server.end('SIGTERM');
    const failures = await Promise.all(
      [1, 2, 3].map(() =>
        store.append(newStream(), 'no_stream', oneEvent()).catch((error: unknown) => error),
      ),
    );
    server = await startChildStore(dataDir, { port: Number(port) });
    for (const failure of failures) expect(failure).toBeInstanceOf(StoreUnavailable);
  });

  it('an append under way at a server that stops has an answer or an unknown outcome, and is written once', async () => {
    const { port } = new URL(server.connectionString.replace('esdb:', 'http:'));
    const appends: { stream: string; events: ReturnType<typeof oneEvent> }[] = [];
    /** Appends one after the other, so that one is under way when the server stops. @returns why it ended */
    const writer = async (): Promise<unknown> => {
      for (;;) {
        const { stream, events } = { stream: newStream(), events: oneEvent() };
        appends.push({ stream, events });
        const failure = await store.append(stream, 'no_stream', events).then(
          () => null,
          (error: unknown) => error,
        );
        if (failure !== null) return failure;
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, writer));
    await server.end('SIGTERM');
    for (const failure of await writing)
      expect(failure).toMatchObject({ name: 'StoreUnavailable', outcomeUnknown: true });
    server = await startChildStore(dataDir, { port: Number(port) });
    for (const { stream, events } of appends) {
      await appendSurely(stream, 'no_stream', events);
      expect(await collect(patient.read(stream))).toHaveLength(1);
    }
  });

  it('6: a subscription to a frozen server is silent, and closing it does not wait for the server', async () => {
    const subscription = store.subscribe({ after: await patient.head(), categories: ['tally'] });
    const seen: StoredEvent[] = [];
    const reading = (async () => {
      for await (const event of subscription) seen.push(event);
    })().catch(() => undefined);
    server.process.kill('SIGSTOP');
    await subscription.close();
    await reading;
    server.process.kill('SIGCONT');
    expect(seen).toEqual([]);
  });

  it('7: a slow reader holds the server back instead of filling its own memory', async () => {
    const stream = newStream();
    const large = 'r'.repeat(20_000);
    const after = await patient.head();
    const count = 4_000;
    for (let n = 0; n < count; n += 50) {
      const events = Array.from({ length: 50 }, () => addedToAppend(randomUUID(), large));
      await appendSurely(stream, n === 0 ? 'no_stream' : BigInt(n - 1), events);
    }
    const used = (): number => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = used();
    const subscription = patient.subscribe({ after, categories: ['tally'] });
    let seen = 0;
    for await (const _ of subscription) {
      if (seen === 0) {
        await delay(1_500);
        expect(used() - before).toBeLessThan(30 * 2 ** 20);
      }
      if (++seen === count) break;
    }
    await subscription.close();
  });
});
