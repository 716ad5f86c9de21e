import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prepareEventStore } from '@app/event-sourcing/store/prepare-eventstoredb.js';
import { startEmbeddedEventStore } from '@app/embedded-event-store/index.js';
import { collect, freshStream, numbered, one, rejection } from './support/events.js';

/** URL of a real EventStoreDB with TLS, for a member of $admins. The test adds a login and default access. */
const ADMIN_URL = process.env['EVENTSTORE_ADMIN_URL'];

(ADMIN_URL ? describe : describe.skip)('an EventStoreDB that was prepared', () => {
  const username = `service-${randomBytes(4).toString('hex')}`;
  const clients: EventStoreDBClient[] = [];
  const as = (name: string, password: string): EventStoreDBClient => {
    const login = `${encodeURIComponent(name)}:${encodeURIComponent(password)}@`;
    const client = EventStoreDBClient.connectionString(ADMIN_URL!.replace(/\/\/[^@]+@/, `//${login}`));
    clients.push(client);
    return client;
  };
  const prepare = (password: string) =>
    prepareEventStore({ adminUrl: ADMIN_URL!, login: { username, password } });

  beforeAll(async () => {
    await prepare('first:p@ss');
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.dispose()));
  });

  it('lets the service append, read its streams and read $all', async () => {
    const service = as(username, 'first:p@ss');
    const stream = freshStream();
    await service.appendToStream(stream, numbered(3));
    expect(await collect(service.readStream(stream))).toHaveLength(3);
    expect(await collect(service.readAll({ maxCount: 10 }))).toHaveLength(10);
  });

  it('lets the service neither delete, nor change metadata, nor touch the store’s own streams', async () => {
    const service = as(username, 'first:p@ss');
    const stream = freshStream();
    await service.appendToStream(stream, one());
    for (const refused of [
      () => service.deleteStream(stream),
      () => service.tombstoneStream(stream),
      () => service.setStreamMetadata(stream, { maxCount: 1 }),
      () => service.setStreamMetadata('$all', { acl: { readRoles: [username] } }),
      () => service.appendToStream('$settings', one()),
      () => collect(service.readStream('$settings')),
    ])
      expect(await rejection(refused())).toMatchObject({ type: 'access-denied' });
  });

  it('refuses a wrong password, and a login without access', async () => {
    expect(await rejection(as(username, 'wrong').appendToStream(freshStream(), one()))).toMatchObject({
      code: 16,
    });
    const ops = as('ops', process.env['EVENTSTORE_OPS_PASSWORD'] ?? 'changeit');
    for (const refused of [
      () => ops.appendToStream(freshStream(), one()),
      () => collect(ops.readAll({ maxCount: 1 })),
    ])
      expect(await rejection(refused())).toMatchObject({ type: 'access-denied' });
  });

  it('is prepared again without a change except the password', async () => {
    expect(await prepare('second')).toEqual([
      { part: 'login', change: 'password set' },
      { part: 'access to $all', change: 'as wanted' },
      { part: 'default access', change: 'as wanted' },
    ]);
  });
});

describe('a store that has no users', () => {
  it('says so', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'event-store-users-'));
    const store = await startEmbeddedEventStore({ dataDir });
    const prepared = prepareEventStore({
      adminUrl: store.connectionString,
      login: { username: 'service', password: 'p' },
    });
    await expect(prepared).rejects.toThrow('This store has no users: it is an embedded one.');
    await store.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
});
