import { expect, it } from '@jest/globals';
import type { Principal } from './authentication.js';
import { livemodeOf, seesMode } from './livemode.js';

const caller = (...sees: Principal['sees']): Principal => ({
  authMode: sees.length > 1 ? 'bearer' : 'apiKey',
  mode: sees[0]!,
  sees,
  workspaceId: 'ws_1',
  actor: 'a',
  scopes: [],
});

it('lets a key see the data of its mode alone, and a bearer token both modes', () => {
  const keys = [caller('live'), caller('test'), caller('live', 'test')];
  expect(keys.map(livemodeOf)).toEqual([true, false, null]);
  const sees = (one: Principal) => [seesMode(one, true), seesMode(one, false)];
  expect(sees(caller('live'))).toEqual([true, false]);
  expect(sees(caller('test'))).toEqual([false, true]);
  expect(sees(caller('live', 'test'))).toEqual([true, true]);
});
