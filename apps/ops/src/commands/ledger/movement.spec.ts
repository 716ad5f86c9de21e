import { expect, it } from '@jest/globals';
import { causeOf } from './movement.js';

it('The cause of a movement is never empty', () => {
  const ids = { correlationId: 'req_1', causationId: 'e7' };
  const cause = { type: 'ReadingCompleted', eventId: 'e3', revision: 2n };
  expect(causeOf({ ...ids, type: 'CreditsCaptured', cause })).toBe('ReadingCompleted e3');
  expect(causeOf({ ...ids, type: 'CreditsCaptured', cause: null })).toBe(
    'unknown: e7 is no event of the reading',
  );
  expect(causeOf({ ...ids, type: 'CreditsReserved', cause: null })).toBe(
    'unknown: no event of the reading names it (request req_1)',
  );
  const none = { correlationId: '', causationId: '', cause: null };
  expect(causeOf({ ...none, type: 'CreditsReleased' })).toBe('unknown: no event of the reading');
  expect(causeOf({ ...none, type: 'CreditsReserved' })).toBe('unknown: no event of the reading names it');
});
