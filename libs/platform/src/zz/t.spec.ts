import { expect, it } from '@jest/globals';
import * as x from '@nestjs/common';
it('x', () => {
  expect(Object.keys(x).length).toBeGreaterThan(0);
});
