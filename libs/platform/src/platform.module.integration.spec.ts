import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { loadConfig } from './config/load-config.js';
import { settings } from './config/settings.js';
import { PlatformModule } from './platform.module.js';

const key = Buffer.alloc(32, 1).toString('base64');

describe('the platform', () => {
  it('closes its connection to the event store, even if another store replaces it', async () => {
    let asked = 0;
    const store = createServer((socket) => {
      asked += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    try {
      await once(store, 'listening');
      const config = loadConfig(settings, {
        DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
        EVENTSTORE_URL: `esdb://127.0.0.1:${(store.address() as AddressInfo).port}?tls=false`,
        ENCRYPTION_KEYS: `k1:${key}`,
        DIGEST_KEY: key,
      });
      const app = await Test.createTestingModule({
        imports: [PlatformModule.forProcess(config, pino({ level: 'silent' }))],
      })
        .overrideProvider(EVENT_STORE)
        .useValue(new InMemoryEventStore())
        .compile();
      await app.init();
      while (asked === 0) await delay(50);
      await app.close();
      // Earlier work may still dial a few times. An open connection would never leave a second without an attempt.
      let then = -1;
      for (let second = 0; second < 15 && asked !== then; second += 1) {
        then = asked;
        await delay(1_000);
      }
      expect(asked).toBe(then);
    } finally {
      store.close();
    }
  });
});
