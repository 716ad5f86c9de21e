import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials as channelCredentials } from '@grpc/grpc-js';
import { connect, generated, type EventStoreDBClient } from './support/client.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { startEmbeddedChild, type ChildStore } from './support/child-store.js';
import { collect, freshStream, numbered, one, rejection, take } from './support/events.js';
import { IS_EMBEDDED } from './support/store-under-test.js';

const AUTHORITY = projectPath('test', 'contract', 'event-store', 'support', 'authority.crt');
const CERT = projectPath('test', 'contract', 'event-store', 'support', 'localhost.crt');
const KEY = projectPath('test', 'contract', 'event-store', 'support', 'localhost.key');
const GOOD = { username: 'admin', password: 'changeit' };

const clientOf = (port: number, login?: typeof GOOD): EventStoreDBClient =>
  connect(
    `esdb://${login ? `${login.username}:${login.password}@` : ''}localhost:${String(port)}?tlsCAFile=${AUTHORITY}`,
  );

(IS_EMBEDDED ? describe : describe.skip)('TLS and authentication', () => {
  let dataDir: string;
  let store: ChildStore;
  const clients: EventStoreDBClient[] = [];

  const as = (login?: typeof GOOD): EventStoreDBClient => {
    const client = clientOf(Number(new URL(store.connectionString).port), login);
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-tls-'));
    const userFile = join(dataDir, 'user');
    writeFileSync(userFile, `${GOOD.username}:${GOOD.password}\n`, { mode: 0o600 });
    store = await startEmbeddedChild(join(dataDir, 'data'), { tls: { cert: CERT, key: KEY }, userFile });
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.dispose()));
    await store.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('serves the right login over TLS: append, read, subscribe', async () => {
    const client = as(GOOD);
    const stream = freshStream();
    await client.appendToStream(stream, numbered(3));
    expect(await collect(client.readStream(stream))).toHaveLength(3);
    expect(await take(client.subscribeToAll(), 3)).toHaveLength(3);
  });

  it('answers a wrong password with UNAUTHENTICATED and no exception', async () => {
    const client = as({ ...GOOD, password: 'wrong' });
    const error = await rejection(collect(client.readStream(freshStream())));
    expect(error).toMatchObject({ code: 16 });
    expect((error.metadata as { getMap(): object } | undefined)?.getMap() ?? {}).not.toHaveProperty(
      'exception',
    );
  });

  it('answers a missing login with PERMISSION_DENIED on every method; the client reports access denied', async () => {
    const client = as();
    const stream = freshStream();
    expect(await rejection(collect(client.readStream(stream)))).toMatchObject({ type: 'access-denied' });
    expect(await rejection(client.appendToStream(stream, one()))).toMatchObject({ type: 'access-denied' });
    expect(await rejection(take(client.subscribeToAll(), 1))).toMatchObject({ type: 'access-denied' });
    expect(await collect(as(GOOD).readAll({ maxCount: 100 }))).not.toContainEqual(
      expect.objectContaining({ event: expect.objectContaining({ streamId: stream }) }),
    );
  });

  it('does not speak without TLS', async () => {
    const raw = new generated.streamsGrpc.StreamsClient(
      new URL(store.connectionString).host,
      channelCredentials.createInsecure(),
    );
    const error = await rejection(collect(raw.read(new generated.streamsPb.ReadReq())));
    expect(error).toMatchObject({ code: 14 });
    raw.close();
  });
});
