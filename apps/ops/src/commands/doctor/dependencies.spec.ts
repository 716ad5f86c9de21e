import { describe, expect, it } from '@jest/globals';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
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
  const checked = (checksums: string) => {
    const rows = [{ version: '18.4', number: 180_004, checksums, size: '9 MB' }];
    return checkPostgres({ query: async () => ({ rows }) } as unknown as Pool);
  };

  it('warns about a server that would not notice damaged bytes', async () => {
    expect(await checked('off')).toMatchObject({
      level: 'warning',
      message:
        'PostgreSQL 18.4, database of 9 MB, without data checksums: it would not notice damaged bytes on its disk',
    });
    expect(await checked('on')).toMatchObject({ level: 'ok' });
  });
});
