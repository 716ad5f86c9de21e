import { expect, it } from '@jest/globals';
import { drawBytes, drawUuid } from './draw.js';

const seed = Buffer.alloc(32, 1);
const other = Buffer.alloc(32, 2);

it('A repeat of a request draws the same, for each purpose something else', () => {
  expect(drawBytes({}, 'secret', 33)).not.toEqual(drawBytes({}, 'secret', 33));
  expect(drawBytes({ seed }, 'secret', 33)).toEqual(drawBytes({ seed }, 'secret', 33));
  const drawn = [drawUuid({ seed }, 'id'), drawUuid({ seed }, 'ref'), drawUuid({ seed: other }, 'id')];
  expect(new Set(drawn).size).toBe(3);
  expect(drawn[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
