import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { Config } from '../../../service/src/settings.js';
import { checkEventStore } from './doctor-stores.js';

describe('the event store', () => {
  const store = { head: () => Promise.resolve(5n) } as EventStore;
  const check = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);

  describe('an address with several nodes', () => {
    let dataDir: string;
    let node: EmbeddedEventStore;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), 'doctor-cluster-'));
      node = await startEmbeddedEventStore({ dataDir });
    });
    afterAll(async () => {
      await node.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it('is shown with its leader and with the nodes that do not answer', async () => {
      const found = await check(`esdb://127.0.0.1:${node.port},127.0.0.1:1?tls=false`);
      expect(found.level).toBe('warning');
      expect(found.message).toContain(
        `127.0.0.1:${node.port} leads; no followers; no answer from 127.0.0.1:1, head at 5`,
      );
    });

    it('without a leader is a failure that says there is no quorum', async () => {
      expect(await check('esdb://127.0.0.1:1,127.0.0.1:2?tls=false')).toMatchObject({
        level: 'failure',
        cause: 'absent',
        message: expect.stringContaining('there is no quorum'),
      });
    });
  });

  it('The doctor says to use names where the address has an IP address under TLS', async () => {
    expect(await check('esdb://user:word@127.0.0.1:1?tls=true')).toMatchObject({
      level: 'warning',
      advice: expect.stringContaining('use a host name'),
    });
  });
});
