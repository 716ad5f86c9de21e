import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import { LogStore } from '#embedded-event-store/log/log-store.js';
import { openEventStore } from '../store/eventstoredb.js';
import type { EventStore } from '../store/event-store.js';
import { contextOf, tally, tallyEvents } from '../testing/tally.js';
import { CommandExecutor } from './command-executor.js';

/** Of the server, as EventStoreDB's 2 s. */
const COMMIT_TIMEOUT_MS = 200;

/** Writers of one fact: the same command at the same time, and so the same event id. */
describe('several clients that append one fact', () => {
  let dataDir: string;
  let server: EmbeddedEventStore;
  let stores: readonly EventStore[];

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'racing-'));
    server = await startEmbeddedEventStore({ dataDir, limits: { commitTimeoutMs: COMMIT_TIMEOUT_MS } });
    const { connectionString } = server;
    stores = await Promise.all(
      [1, 2, 3].map(() =>
        openEventStore({ connectionString, appendTimeoutMs: 10_000, readTimeoutMs: 10_000 }),
      ),
    );
  });

  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** @returns how often a client had to ask again */
  const race = async (facts: number): Promise<number> => {
    let appends = 0;
    const executors = stores.map((store) => {
      const counted: EventStore = Object.assign(Object.create(store) as EventStore, {
        append: (...asked: Parameters<EventStore['append']>) => {
          appends += 1;
          return store.append(...asked);
        },
      });
      return new CommandExecutor(counted, tallyEvents, tally);
    });
    for (let fact = 0; fact < facts; fact += 1) {
      const id = randomUUID();
      const outcomes = await Promise.all(
        executors.map((executor) =>
          executor.execute(id, { type: 'add', by: 1, ref: 'a' }, contextOf('a'), { fresh: true }),
        ),
      );
      expect(outcomes.map(({ state }) => state.total)).toEqual(stores.map(() => 1));
      const events = [];
      for await (const event of stores[0]!.read(`tally-${id}`)) events.push(event);
      expect(events).toHaveLength(1);
    }
    return appends - facts * stores.length;
  };

  it('all learn of it, and write it once', async () => {
    expect(await race(10)).toBeGreaterThan(0);
  });

  it('all learn of it on a disk that takes longer than their first two attempts', async () => {
    const write = LogStore.prototype.write;
    jest.spyOn(LogStore.prototype, 'write').mockImplementation(async function (this: LogStore, ...given) {
      await delay(3.5 * COMMIT_TIMEOUT_MS);
      await write.apply(this, given);
    });
    expect(await race(2)).toBeGreaterThan(4);
  });
});
