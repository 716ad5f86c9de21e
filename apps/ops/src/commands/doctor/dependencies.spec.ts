import { describe, expect, it } from '@jest/globals';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { checkEventStore } from './dependencies.js';
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
