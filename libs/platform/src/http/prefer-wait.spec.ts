import { expect, it } from '@jest/globals';
import { preferredWait } from './prefer-wait.js';

it.each<[string | undefined, number]>([
  ['wait=10', 10],
  ['wait = "10"', 10],
  ['wait="1\\0"', 10],
  ['respond-async, wait=10', 10],
  ['wait=10; of="a, b"; c', 10],
  ['wait=10 ;of=x , wait=20', 10],
  ['return="a, wait=20; \\", wait=30", wait=10', 10],
  // Longer than anybody is held.
  ['wait=61', 60],
  ['wait=999999999999999999999999', 60],
  // None, or none that is understood.
  [undefined, 0],
  ['wait=', 0],
  ['wait=-1', 0],
  ['wait="10', 0],
  ['wait=soon, wait=10', 0],
  ['await=10', 0],
  ['return=minimal; wait=10', 0],
])('Of %j, a request is held for %d seconds', (prefer, seconds) => {
  expect(preferredWait(prefer)).toBe(seconds);
});
