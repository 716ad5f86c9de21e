import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRelay } from '#event-sourcing/testing/relay.js';
import { until } from '../support/integrator.js';
import { startApi, sharedStack, type Stack } from '../support/index.js';
import { DEFAULT_LIMITS } from '../support/default-limits.js';

/** Three renewals take about 4 s. */
const TURN_MS = 8_000;

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
});

afterAll(async () => {
  await stack?.stop();
});

describe('an API with an unusable connection to the event store', () => {
  it('fails its probe, then exits with 1 so that its supervisor starts another', async () => {
    const address = new URL(stack.eventStoreUrl.replace(/^esdb:/, 'http:'));
    const relay = await startRelay(Number(address.port));
    const api = await startApi(stack, {
      ...DEFAULT_LIMITS,
      EVENTSTORE_URL: stack.eventStoreUrl.replace(`:${address.port}`, `:${relay.port}`),
      EVENT_STORE_TIMEOUT_MS: '300',
    });
    const liveness = async () => (await fetch(`${api.baseUrl}/healthz`)).status;
    try {
      expect(await liveness()).toBe(200);
      await until(
        async () => (await fetch(`${api.baseUrl}/readyz`)).status === 200,
        () => 'it is ready',
      );
      // Connections that only check the store succeed. Those that would replace the old one fail, and are every second
      // one, until a look at the store's clock takes one of the order: then it is the others.
      let which = (relay.taken + 1) % 2;
      relay.freezeNext((index) => index % 2 === which);
      relay.freeze();
      let turn = Date.now() + TURN_MS;
      await until(
        async () => {
          if (Date.now() > turn) {
            which = 1 - which;
            relay.freeze();
            turn = Date.now() + TURN_MS;
          }
          return (await liveness()) === 503;
        },
        () => 'it reports that it is stuck',
        300_000,
      );
      expect(await api.exited).toBe(1);
    } finally {
      await api.stop();
      await relay.stop();
    }
  });
});
