import { UnavailableError } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openCalls } from '../../../../test/contract/event-store/support/open-calls.js';
import { addedToAppend } from '../testing/tally.js';
import { loadClient } from './clients/load.js';
import { openConnection, type Connection } from './connection.js';
import { startServer, type StartedServer } from './testing/server-under-test.js';

let dataDir: string;
let server: StartedServer;
let connection: Connection;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'connection-'));
  server = await startServer(dataDir);
  connection = openConnection({
    openClient: await loadClient('eventstore'),
    connectionString: server.connectionString,
    proxyFromEnvironment: false,
    reads: 10,
    readTimeoutMs: 10_000,
    // After this time, an old stream of appends is closed.
    appendTimeoutMs: 6_000,
  });
});

afterAll(async () => {
  await connection.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Internals {
  getGRPCClient(stub: unknown, name: string): Promise<unknown>;
  handleError(stub: unknown, error: Error): Promise<void>;
  readonly disposableStreams: Set<NodeJS.EventEmitter>;
}

const append = () =>
  connection.appends.append(`thing-${randomUUID()}`, 'no_stream', [addedToAppend(randomUUID(), 'r')]);

/** What the client does when a node is no longer the leader, or not ready. */
const changeNodes = async (): Promise<void> => {
  const internals = connection.client.internals as unknown as Internals;
  const stub = await internals.getGRPCClient(streamsGrpc.StreamsClient, 'spec');
  await internals.handleError(stub, new UnavailableError({ name: '', message: 'gone' } as never));
};

it('A change of nodes closes the old stream of appends', async () => {
  for (let change = 0; change < 3; change += 1) {
    await append();
    await changeNodes();
  }
  await append();
  const open = async () => [await openCalls(server.connectionString), connection.openStreams()];
  const wanted = [1, { append: 1, read: 0 }];
  for (let look = 0; look < 1_200 && !isDeepStrictEqual(await open(), wanted); look += 1) await delay(50);
  expect(await open()).toEqual(wanted);
});

it('A broken old stream of appends does not fail appends on the new one', async () => {
  await append();
  const [left] = connection.client.internals.disposableStreams;
  await changeNodes();
  await append();
  const underWay = [append(), append()];
  await delay(0);
  left!.emit('error', Object.assign(new Error('broken'), { code: 14, details: '', metadata: undefined }));
  await expect(Promise.all(underWay)).resolves.toHaveLength(2);
});
