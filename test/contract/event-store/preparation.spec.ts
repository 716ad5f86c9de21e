import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type EventStoreDBClient } from './support/client.js';
import { startEmbeddedChild } from './support/child-store.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prepareEventStore } from '#event-sourcing/store/prepare-eventstoredb.js';
import { collect, freshStream, numbered, one, rejection } from './support/events.js';

/** URL of a real EventStoreDB with TLS, for a member of $admins. The test adds logins and default access. */
const ADMIN_URL = process.env['EVENTSTORE_ADMIN_URL'];

(ADMIN_URL ? describe : describe.skip)('an EventStoreDB that was prepared', () => {
  const username = `service-${randomBytes(4).toString('hex')}`;
  const clients: EventStoreDBClient[] = [];
  const as = (name: string, password: string): EventStoreDBClient => {
    const login = `${encodeURIComponent(name)}:${encodeURIComponent(password)}@`;
    const client = connect(ADMIN_URL!.replace(/\/\/[^@]+@/, `//${login}`));
    clients.push(client);
    return client;
  };
  const group = `services-${username}`;
  const prepare = (password: string, name = username) =>
    prepareEventStore({ adminUrl: ADMIN_URL!, login: { username: name, password }, group });

  beforeAll(async () => {
    expect(await prepare('first:p@ss')).toMatchObject([
      { part: 'login', change: 'ready' },
      { part: 'group', change: 'joined' },
      { part: 'access to $all', change: 'changed' },
      { part: 'default access', change: 'changed' },
    ]);
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

  it('lets in a second login of the service without changing access, and then refuses neither', async () => {
    const another = `${username}-2`;
    expect(await prepare('other', another)).toEqual([
      { part: 'login', change: 'ready' },
      { part: 'group', change: 'joined' },
      { part: 'access to $all', change: 'as wanted' },
      { part: 'default access', change: 'as wanted' },
    ]);
    for (const service of [as(another, 'other'), as(username, 'first:p@ss')]) {
      await service.appendToStream(freshStream(), one());
      expect(await collect(service.readAll({ maxCount: 1 }))).toHaveLength(1);
    }
  });

  it('keeps its administrator: the service gets no login of $admins', async () => {
    await expect(prepare('changed', 'admin')).rejects.toThrow('admin is an administrator');
    await collect(
      as('admin', new URL(ADMIN_URL!.replace(/^esdb/, 'http')).password).readAll({ maxCount: 1 }),
    );
  });

  it('is prepared again without a change except the password', async () => {
    expect(await prepare('second')).toEqual([
      { part: 'login', change: 'password set' },
      { part: 'group', change: 'as wanted' },
      { part: 'access to $all', change: 'as wanted' },
      { part: 'default access', change: 'as wanted' },
    ]);
  });
});

describe('a store that has no users', () => {
  it('says so', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'event-store-users-'));
    const store = await startEmbeddedChild(dataDir);
    const prepared = prepareEventStore({
      adminUrl: store.connectionString,
      login: { username: 'service', password: 'p' },
      group: 'services',
    });
    await expect(prepared).rejects.toThrow('This store has no users: it is an embedded one.');
    await store.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });
});
