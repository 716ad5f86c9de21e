import { Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { addedToAppend } from '../testing/tally.js';
import { openEventStore, type EventStoreDb } from './eventstoredb.js';
import { CLIENT_UNDER_TEST } from './testing/client-under-test.js';
import { startServer, type StartedServer } from './testing/start-server.js';

const LEADER = 8;
const ELECTION_MS = 2_000;
/** Beyond the election, on a busy machine. A client alone takes 13 s and more. */
const RECOVERS_WITHIN_MS = 5_000;

let folders: string[];
let first: StartedServer;
let second: StartedServer;
let followers: readonly { readonly node: string; readonly stop: () => void }[];
let leaders: readonly number[];
let store: EventStoreDb;
let said: string[];

/** `MemberInfo` of a leader that is alive: state, is_alive, http_end_point. */
const leaderAt = (port: number): Buffer => {
  const digits = [(port & 0x7f) | 0x80, ((port >> 7) & 0x7f) | 0x80, port >> 14];
  const endPoint = [0x0a, 9, ...Buffer.from('127.0.0.1'), 0x10, ...digits];
  const member = [0x18, LEADER, 0x20, 1, 0x2a, endPoint.length, ...endPoint];
  return Buffer.from([0x0a, member.length, ...member]);
};

/** A node that does not lead and knows who does, as EventStoreDB's gossip says it. */
const startFollower = async () => {
  const server = new Server();
  const read: handleUnaryCall<Buffer, Buffer> = (_, answer) =>
    answer(null, Buffer.concat(leaders.map(leaderAt)));
  const path = '/event_store.client.gossip.Gossip/Read';
  const method = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  };
  server.addService({ read: method }, { read });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { node: `127.0.0.1:${port}`, stop: () => server.forceShutdown() };
};

beforeEach(async () => {
  folders = ['first', 'second'].map((name) => mkdtempSync(join(tmpdir(), `frozen-leader-${name}-`)));
  [first, second] = await Promise.all([startServer(folders[0]!), startServer(folders[1]!)]);
  leaders = [first.port];
  followers = await Promise.all([startFollower(), startFollower()]);
  said = [];
  const nodes = [`127.0.0.1:${first.port}`, ...followers.map(({ node }) => node)];
  store = await openEventStore({
    client: CLIENT_UNDER_TEST,
    connectionString: `esdb://${nodes.join(',')}?tls=false`,
    appendTimeoutMs: 1_000,
    readTimeoutMs: 2_000,
    report: (message) => said.push(message),
  });
});

afterEach(async () => {
  await store.close();
  for (const { stop } of followers) stop();
  await Promise.all([first.stop(), second.stop()]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const append = (stream = `tally-${randomUUID()}`) =>
  store.append(stream, 'no_stream', [addedToAppend(randomUUID(), 'r')]);

const sinceUntil = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  for (;;) {
    try {
      await work();
      return performance.now() - startedAt;
    } catch {
      await delay(20);
    }
  }
};

const tell = (what: string, milliseconds: number): void =>
  void process.stdout.write(`${what}: ${(milliseconds / 1_000).toFixed(1)} s\n`);

it('A process leaves a frozen leader when another is elected, though its calls only wait', async () => {
  await append();
  first.signal('SIGSTOP');
  // Meanwhile the others name both, as EventStoreDB's do.
  setTimeout(() => (leaders = [first.port, second.port]), ELECTION_MS);
  const took = await sinceUntil(() => append());
  tell(`frozen leader, election of ${ELECTION_MS / 1_000} s`, took);
  expect(took).toBeGreaterThan(ELECTION_MS - 100);
  expect(took).toBeLessThan(RECOVERS_WITHIN_MS);
  expect(store.connection.renewals).toBe(1);
  await store.head();
  expect(said.filter((message) => message.includes('answer') && !message.includes('renewed'))).toHaveLength(
    2,
  );
});

it('An idle process leaves it too, before anybody calls', async () => {
  await append();
  first.signal('SIGSTOP');
  leaders = [first.port, second.port];
  const took = await sinceUntil(() =>
    store.connection.renewals > 0 ? Promise.resolve() : Promise.reject(new Error('not yet')),
  );
  tell('frozen leader, idle process', took);
  expect(took).toBeLessThan(RECOVERS_WITHIN_MS);
  await append();
});

it('A leader that thaws before it is given up keeps its processes', async () => {
  await append();
  first.signal('SIGSTOP');
  await delay(800);
  first.signal('SIGCONT');
  await sinceUntil(() => append());
  expect(store.connection.renewals).toBe(0);
});

it('A killed leader costs a new search and no renewal', async () => {
  await append();
  leaders = [second.port];
  first.signal('SIGKILL');
  const took = await sinceUntil(() => append());
  tell('killed leader, election at once', took);
  expect(took).toBeLessThan(RECOVERS_WITHIN_MS);
});
