import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, streamNameFilter, type EventStoreDBClient } from './support/client.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runProgram, startChildStore, startEmbeddedChild } from './support/child-store.js';
import { collect, freshStream, one } from './support/events.js';
import { EXTERNAL_URL, IS_EMBEDDED } from './support/store-under-test.js';

interface Acknowledged {
  readonly stream: string;
  readonly revision: bigint;
  readonly id: string;
}

/**
 * Appends events one by one to one stream until the server is gone. An append on a connection that has just broken may
 * get no answer at all: the client has no deadline for it.
 * @returns the acknowledged ones
 */
const appendUntil = async (
  gone: Promise<unknown>,
  client: EventStoreDBClient,
  stream: string,
): Promise<Acknowledged[]> => {
  const acknowledged: Acknowledged[] = [];
  for (;;) {
    const event = one();
    try {
      const answer = await Promise.race([client.appendToStream(stream, event), gone.then(() => null)]);
      if (answer === null) return acknowledged;
      acknowledged.push({ stream, revision: answer.nextExpectedRevision, id: event.id });
    } catch {
      return acknowledged;
    }
  }
};

/** Four processes start, one after the other. */
const RESTARTS_MS = 60_000;

const whenStarted = EXTERNAL_URL ? describe.skip : describe;

whenStarted('the process of the event store', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-process-'));
  });

  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  it(
    'loses no acknowledged event and shows no partial append when it is killed under load repeatedly',
    async () => {
      const acknowledged: Acknowledged[] = [];
      for (let round = 0; round < 3; round++) {
        const server = await startChildStore(dataDir);
        const client = connect(server.connectionString);
        const streams = Array.from({ length: 16 }, () => freshStream());
        const gone = once(server.process, 'exit');
        const writers = Promise.all(streams.map((stream) => appendUntil(gone, client, stream)));
        // Waits until the load is running: some hundred events are durable.
        for await (const event of client.subscribeToAll({
          filter: streamNameFilter({ prefixes: [streams[0]!] }),
        })) {
          if ((event.event?.revision ?? 0n) >= 20n) break;
        }
        expect(await server.end('SIGKILL')).toBe('SIGKILL');
        acknowledged.push(...(await writers).flat());
        await client.dispose();
      }
      expect(acknowledged.length).toBeGreaterThan(300);

      const server = await startChildStore(dataDir);
      const client = connect(server.connectionString);
      const stored = new Map<string, string>();
      const byStream = new Map<string, bigint[]>();
      for (const { event } of await collect(client.readAll())) {
        if (!event || event.streamId.startsWith('$')) continue;
        stored.set(event.id, `${event.streamId}/${String(event.revision)}`);
        byStream.set(event.streamId, [...(byStream.get(event.streamId) ?? []), event.revision]);
      }
      const lost = acknowledged.filter(
        ({ id, stream, revision }) => stored.get(id) !== `${stream}/${String(revision)}`,
      );
      expect(lost).toEqual([]);
      for (const revisions of byStream.values()) {
        expect(revisions).toEqual(revisions.map((_, n) => BigInt(n)));
      }
      await client.dispose();
      await server.end('SIGTERM');
    },
    RESTARTS_MS,
  );
});

(IS_EMBEDDED ? describe : describe.skip)('the process of the embedded event store', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-process-'));
  });

  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('refuses a second server on the same folder with one line, and the first keeps running', async () => {
    const first = await startEmbeddedChild(dataDir);
    const { child, firstLine } = runProgram(['--data', dataDir, '--port', '0']);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(await firstLine).toBeUndefined();
    expect(code).toBe(1);
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).toMatch(/is in use by the event store with process id \d+/);
    expect(await first.end('SIGINT')).toBe(0);
  });

  it('exits with status 0 when the process that started it closes its standard input', async () => {
    const server = await startEmbeddedChild(dataDir);
    const exited = once(server.process, 'exit');
    server.process.stdin?.end();
    expect((await exited)[0]).toBe(0);
  });

  it.each([
    [['--port', '0'], /--data is required/],
    [['--data', 'x', '--port', '70000'], /70000 is not a port/],
    [['--nonsense'], /--nonsense/],
  ])('explains the arguments %j', async (args, explanation) => {
    const { child } = runProgram(args);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(1);
    expect(said).toMatch(explanation);
    expect(said).toContain('Usage:');
  });
});
