import { expect, it } from '@jest/globals';
import type { Principal } from './authentication.js';
import { livemodeOf, seesMode } from './livemode.js';

const caller = (mode: Principal['mode']): Principal => ({
  mode,
  workspaceId: 'ws_1',
  actor: 'a',
  scopes: [],
});

it('lets a live key see live data alone, and a bearer token both modes', () => {
  expect([livemodeOf(caller('apiKey')), livemodeOf(caller('bearer'))]).toEqual([true, null]);
  const sees = (one: Principal) => [seesMode(one, true), seesMode(one, false)];
  expect(sees(caller('apiKey'))).toEqual([true, false]);
  expect(sees(caller('bearer'))).toEqual([true, true]);
});
