import { describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { Pool } from 'pg';
import { checkEventStore, checkPostgres } from './dependencies.js';
import type { Config } from '../../../../service/src/settings.js';

const store = { head: () => Promise.resolve(5n) } as EventStore;
const at = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);

describe('the doctor’s check of the event store', () => {
  it.each(['esdb://127.0.0.1:1?tls=false', 'esdb://127.0.0.1:1?keepAliveInterval=10000&tls=false'])(
    'warns about a connection without TLS, and therefore without a login (%s)',
    async (url) => {
      expect(await at(url)).toMatchObject({
        level: 'warning',
        message: expect.stringContaining('without TLS and login'),
      });
    },
  );

  it.each(['esdb://a:b@localhost:1', 'esdb://a:b@localhost:1?tls=true'])('accepts %s', async (url) => {
    expect(await at(url)).toMatchObject({ level: 'ok', message: expect.not.stringContaining('a:b') });
  });
});

describe('the doctor’s check of PostgreSQL', () => {
  const facts = {
    version: '18.4',
    number: 180_004,
    checksums: 'on',
    size: '9 MB',
    encoding: 'UTF8',
    sorted_by: null,
    sorts_by: null,
  };
  const checked = (other: object) =>
    checkPostgres({ query: async () => ({ rows: [{ ...facts, ...other }] }) } as unknown as Pool);

  it('warns about a server that would not notice damaged bytes', async () => {
    expect(await checked({ checksums: 'off' })).toMatchObject({
      level: 'warning',
      message:
        'PostgreSQL 18.4, database of 9 MB, without data checksums: it would not notice damaged bytes on its disk',
    });
    expect(await checked({})).toMatchObject({ level: 'ok' });
  });

  it('finds a database that was made under another version of its collation, as after an upgrade of the system', async () => {
    expect(await checked({ sorted_by: '2.36', sorts_by: '2.41' })).toMatchObject({
      level: 'failure',
      message: expect.stringContaining('made under version 2.36 of its collation and sorts by 2.41 now'),
      advice: expect.stringContaining('reindex'),
    });
    for (const noted of ['2.41', null])
      expect(await checked({ sorted_by: noted, sorts_by: '2.41' })).toMatchObject({ level: 'ok' });
  });

  it('finds a database that cannot store every text', async () => {
    expect(await checked({ encoding: 'LATIN1' })).toMatchObject({
      level: 'failure',
      message: expect.stringContaining('in LATIN1'),
    });
  });
});
