import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../testing/cluster.js';
import type { Relay } from '../testing/relay.js';
import { collect } from './event-store.js';
import { openEventStore, type EventStoreDb } from './eventstoredb.js';
import { startServer, type StartedServer } from './testing/server-under-test.js';
import { newStream } from './testing/store-under-test.js';
import { startLoad, until, type Load } from './testing/under-load.js';
import { addedToAppend } from '../testing/tally.js';
import { randomUUID } from 'node:crypto';

const FEW_STREAMS = 5;
/** The stream of appends, and one subscription. */
const AT_REST = 2;

let dataDir: string;
let server: StartedServer;
let cluster: Cluster;
let network: Relay;
let store: EventStoreDb;

/** Milliseconds. Short ones, so that a fault shows soon. */
const SHORT = { appendTimeoutMs: 300, readTimeoutMs: 500, stuckAfterMs: 600 };
/** For tests without a fault: a busy machine is slow. */
const LONG = { appendTimeoutMs: 30_000, readTimeoutMs: 30_000, stuckAfterMs: 60_000 };

const open = async ({ mostStreams = 100, limits = SHORT } = {}): Promise<void> => {
  cluster = await startCluster(server.port, { size: 1, mostStreams });
  network = cluster.nodes[0]!.network;
  store = await openEventStore({
    connectionString: cluster.connectionString,
    ...limits,
  });
};

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'network-faults-'));
  server = await startServer(dataDir);
});

afterEach(async () => {
  await store.close();
  await cluster.stop();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Appends one event, as often as it takes: on a slow machine the short time limit passes without a fault. */
const append = async (stream: string, revision: 'no_stream' | bigint, kind: string): Promise<void> => {
  const event = addedToAppend(randomUUID(), kind);
  for (let done = false; !done;)
    done = await store.append(stream, revision, [event]).then(
      () => true,
      () => false,
    );
};

/** Reads a stream, as often as it takes. */
const idsOf = async (stream: string): Promise<readonly string[]> => {
  for (;;) {
    const events = await collect(store.read(stream)).catch(() => null);
    if (events) return events.map(({ id }) => id);
  }
};

const failed = (load: Load, times: number): Promise<void> => {
  const before = load.failures();
  return until(() => load.failures() >= before + times);
};

interface Fault {
  readonly fault: string;
  readonly inflict: () => void;
  /** Failed calls before it is mended; 0: it mends itself. */
  readonly bites: number;
  readonly mend: () => void;
}
const nothing = (): void => undefined;

const FAULTS: readonly Fault[] = [
  {
    fault: 'resets every connection for a time',
    inflict: () => {
      network.refuse(true);
      network.cut();
    },
    bites: 6,
    mend: () => network.refuse(false),
  },
  {
    fault: 'delivers too late for a time',
    inflict: () => network.delay(700),
    bites: 6,
    mend: () => network.delay(0),
  },
  {
    fault: 'ends what the client sends',
    inflict: () => network.halfClose('requests'),
    bites: 0,
    mend: nothing,
  },
  {
    fault: 'ends what the client receives',
    inflict: () => network.halfClose('answers'),
    bites: 0,
    mend: nothing,
  },
  { fault: 'drops all data of the connection', inflict: () => network.freeze(), bites: 0, mend: nothing },
  {
    fault: 'keeps the data of every connection for a time',
    inflict: () => network.hold('all'),
    bites: 6,
    mend: () => network.release(),
  },
  {
    fault: 'delivers the data of the old connection behind that of a new one',
    inflict: () => network.hold('open'),
    bites: 2,
    mend: () => undefined,
  },
];

describe('a network between client and store', () => {
  it.each(FAULTS)(
    'that $fault: appends and subscriptions go on, and no call stays open',
    async ({ inflict, bites, mend }) => {
      await open();
      const load = await startLoad(store);
      await load.more(3);
      inflict();
      if (bites > 0) await failed(load, bites);
      mend();
      await load.more(3);
      network.release();
      await load.more(3);
      await load.rest();
      await until(() => cluster.openCalls() === AT_REST && store.connection.openCalls().read === 0);
      expect(store.connection.openCalls()).toEqual({ append: 1, read: 0, subscription: 1 });
      await load.stop();
      expect(load.seen).toEqual(load.written);
      await until(() => cluster.openCalls() === 1);
    },
  );

  it('that delivers an append after the same one was repeated over another connection writes it once', async () => {
    await open();
    const stream = newStream();
    await append(stream, 'no_stream', 'first');
    const event = addedToAppend(randomUUID(), 'late');
    const appendLate = () => store.append(stream, 0n, [event]);
    network.hold('open');
    await expect(appendLate()).rejects.toMatchObject({ name: 'StoreUnavailable', outcomeUnknown: true });
    // Over a new connection, once the old one is given up.
    for (let done = false; !done;) {
      done = await appendLate().then(
        () => true,
        () => false,
      );
    }
    await append(stream, 1n, 'next');
    network.release();
    // The store has dealt with the late bytes once it has answered those behind them.
    await until(() => cluster.openCalls() <= 1);
    expect(await idsOf(stream)).toHaveLength(3);
  });
});

describe('a store that takes few calls on a connection', () => {
  it('makes further reads wait, and neither loses nor leaves one', async () => {
    await open({ mostStreams: FEW_STREAMS, limits: LONG });
    const load = await startLoad(store);
    await load.more(3);
    const stream = newStream();
    await store.append(stream, 'no_stream', [addedToAppend(randomUUID(), 'r')]);
    const reads = await Promise.all(Array.from({ length: 50 }, () => collect(store.read(stream))));
    expect(reads.every((events) => events.length === 1)).toBe(true);
    await load.more(3);
    await load.rest();
    await until(() => cluster.openCalls() === AT_REST);
    await load.stop();
    expect(load.seen).toEqual(load.written);
    expect(store.connection.renewals).toBe(0);
  });
});
