import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventToAppend } from '../core/event.js';
import { appendWithRetry } from '../commands/command-executor.js';
import { startCluster, type Cluster, type ClusterNode } from '../testing/cluster.js';
import { openEventStore, type EventStoreDb } from './eventstoredb.js';
import { startServer, type StartedServer } from './testing/server-under-test.js';
import { newEvents, newStream } from './testing/store-under-test.js';
import { startLoad, until, type Load } from './testing/under-load.js';

/** The stream of appends, and one subscription. */
const AT_REST = 2;

let dataDir: string;
let server: StartedServer;
let cluster: Cluster;
let store: EventStoreDb;
let load: Load;
let said: string[];

const open = ({
  appendTimeoutMs = 500,
  readTimeoutMs = 1_000,
  connectionString = cluster.connectionString,
}): Promise<EventStoreDb> =>
  openEventStore({
    connectionString,
    appendTimeoutMs,
    readTimeoutMs,
    report: (message) => said.push(message),
  });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'moving-leader-'));
  server = await startServer(dataDir);
  cluster = await startCluster(server.port);
  said = [];
  store = await open({});
  load = await startLoad(store);
  await load.more(3);
});

/** Replaces the store of `beforeEach`, and its load. */
const openAgain = async (options: Parameters<typeof open>[0]): Promise<void> => {
  await load.stop();
  await store.close();
  store = await open(options);
};

afterEach(async () => {
  await load.stop();
  await store.close();
  await cluster.stop();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const failures = (times: number): Promise<void> => {
  const before = load.failures();
  return until(() => load.failures() >= before + times);
};
/** A node that runs again learns at once that another one leads. Until then, it would say so of itself. */
const thaw = (node: ClusterNode, leader: ClusterNode): void => {
  cluster.lead(leader);
  node.network.release();
};
/** The stream of appends is at the new leader. At most the subscription is left on another node. */
const goesOnAt = async (leader: ClusterNode): Promise<void> => {
  await load.more(3);
  await load.rest();
  await until(() => leader.openCalls() >= 1 && cluster.openCalls() === AT_REST);
  expect(load.seen).toEqual(load.written);
  await load.more(3);
};

describe('a process whose address names three nodes', () => {
  it('follows a leader that hands over, there and back', async () => {
    // No call needs a time limit, and none of a slow machine ends a connection.
    await openAgain({ appendTimeoutMs: 20_000, readTimeoutMs: 20_000 });
    load = await startLoad(store);
    await load.more(3);
    const [first, second, third] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
    for (const next of [second, third, first, second]) {
      cluster.lead(next);
      await goesOnAt(next);
    }
    expect(store.connection.renewals).toBe(0);
  });

  it('repeats an append at once that reaches a former leader, which would lose it', async () => {
    // Nothing but an answer ends an append.
    await openAgain({ appendTimeoutMs: 1_000_000 });
    const stream = newStream();
    const [before, after] = newEvents(2) as [EventToAppend, EventToAppend];
    await store.append(stream, 'no_stream', [before]);
    cluster.lead(cluster.nodes[1]!);
    let revision: bigint | undefined;
    const appended = appendWithRetry(store, stream, 0n, [after]).then(
      (result) => (revision = result.revision),
    );
    await Promise.race([until(() => revision === 1n), appended]);
    expect(revision).toBe(1n);
  });

  it('waits for an election that takes its time', async () => {
    cluster.lead(null);
    await failures(5);
    cluster.lead(cluster.nodes[2]!);
    await goesOnAt(cluster.nodes[2]!);
  });

  it('leaves a frozen leader, also while the others still name it', async () => {
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
    first.network.hold('all');
    cluster.lead(null, first);
    await failures(3);
    cluster.lead(second, first);
    await load.more(3);
    expect(store.connection.renewals).toBeGreaterThan(0);
    thaw(first, second);
    await goesOnAt(second);
    const told = said.filter((message) => !message.includes('renewed'));
    expect(told[0]).toBe('the event store does not answer; calls to it are tried again');
    expect(told.at(-1)).toContain('the event store answers again');
  });

  it('leaves a frozen leader while nobody calls', async () => {
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
    await load.rest();
    first.network.hold('all');
    cluster.lead(second, first);
    await until(() => store.connection.renewals > 0);
    thaw(first, second);
    await goesOnAt(second);
  });

  it('keeps its connection to a leader that is slow for everybody: a new one would not help', async () => {
    await openAgain({ readTimeoutMs: 200 });
    load = await startLoad(store);
    await load.more(3);
    for (const { network } of cluster.nodes) network.delay(110);
    await failures(30);
    expect([store.connection.renewals, store.connection.beyondHelp]).toEqual([0, false]);
    for (const { network } of cluster.nodes) network.delay(0);
    await goesOnAt(cluster.nodes[0]!);
  });

  it('outlives a restart of each node, one after the other', async () => {
    for (const [index, node] of cluster.nodes.entries()) {
      const next = cluster.nodes[(index + 1) % cluster.nodes.length]!;
      node.network.refuse(true);
      node.network.cut();
      cluster.lead(next);
      await goesOnAt(next);
      node.network.refuse(false);
    }
  });
});

it('A process whose address names one follower finds the leader through it', async () => {
  const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
  cluster.lead(second);
  await openAgain({ connectionString: `esdb+discover://${first.node}?tls=false` });
  load = await startLoad(store);
  await goesOnAt(second);
});
