import { expect, it } from '@jest/globals';
import { SettledReadings } from './settled-readings.js';

const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `6b1f-${from + index}-reading`);

it('knows the readings that were added, and no others, in 27 bytes each at most', () => {
  const settled = new SettledReadings();
  const [added, others] = [ids(0, 2_500), ids(2_500, 5_000)];
  for (const id of added) settled.add(id);
  for (const id of added) settled.add(id);
  expect(added.every((id) => settled.has(id))).toBe(true);
  expect(others.some((id) => settled.has(id))).toBe(false);
  expect(settled.bytes / added.length).toBeLessThanOrEqual(27);
});
