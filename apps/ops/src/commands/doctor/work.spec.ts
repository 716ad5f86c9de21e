import { expect, it } from '@jest/globals';
import { wayOutOfHalt } from './work.js';

it('Doctor advises to quarantine an event only when a consumer parks too much, not when a store is at fault', () => {
  expect(wayOutOfHalt('billing.a', 'credits-1@3 Added: StoreDamaged: record 7 is damaged')).not.toContain(
    'quarantine',
  );
  expect(
    wayOutOfHalt('billing.a', 'credits-1@3 Added: RangeError: no; 25 events keep streams parked already'),
  ).toContain('ops quarantine add credits-1@3 --reason');
});
