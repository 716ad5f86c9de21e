import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getSupportedMethods } from '#embedded-event-store/grpc/cluster.js';
import { startEmbeddedEventStore } from '#embedded-event-store/index.js';
import { appendSurely } from '../handling/append-surely.js';
import { addedToAppend } from '../testing/tally.js';
import { openEventStore } from './eventstoredb.js';

/** A node that is not the leader, answering as EventStoreDB does. It lacks the latest events. */
const startFollower = async (leaderPort: number): Promise<{ port: number; stop: () => void }> => {
  const server = new Server();
  const refuse = (
    call: ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>,
  ): void => {
    if (call.metadata.get('requires-leader')[0] !== 'true') {
      call.end();
      return;
    }
    const metadata = new Metadata();
    metadata.set('exception', 'not-leader');
    metadata.set('leader-endpoint-host', '127.0.0.1');
    metadata.set('leader-endpoint-port', String(leaderPort));
    call.emit('error', { code: status.NOT_FOUND, details: 'Leader info available', metadata });
  };
  const { read, batchAppend } = streamsGrpc.StreamsService;
  server.addService({ read, batchAppend }, { read: refuse, batchAppend: refuse });
  server.addService(serverFeaturesGrpc.ServerFeaturesService, { getSupportedMethods });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, stop: () => server.forceShutdown() };
};

it('A read that reaches a follower is answered by the leader with its events, and so are all later reads', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'leader-'));
  const leader = await startEmbeddedEventStore({ dataDir });
  const follower = await startFollower(leader.port);
  const bounds = { appendTimeoutMs: 10_000, readTimeoutMs: 10_000 };
  const direct = await openEventStore({ connectionString: leader.connectionString, ...bounds });
  const { position } = await direct.append(`tally-${randomUUID()}`, 'no_stream', [
    addedToAppend(randomUUID(), 'r'),
  ]);
  await direct.close();

  const store = await openEventStore({
    connectionString: `esdb://127.0.0.1:${follower.port}?tls=false`,
    ...bounds,
  });
  try {
    expect(await store.head()).toBe(position);
    await appendSurely(store, `tally-${randomUUID()}`, 'no_stream', [addedToAppend(randomUUID(), 'r')]);
    expect(await store.end()).toBeGreaterThan(position);
  } finally {
    await store.close();
    follower.stop();
    await leader.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
