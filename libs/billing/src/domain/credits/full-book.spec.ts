import { describe, expect, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import { at } from '../../../test/events.js';
import { adjust, adjusted, NOW } from '../../../test/credits-decider.js';
import type { Grant } from '../../contracts/events.js';
import { bytesOf, MOST_CARRIED_BYTES } from '../append-size.js';
import { credits } from './credits.decider.js';
import { noBook } from './credits.state.js';
import { periodClosed } from './due.js';

const ID = '4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f';
const gift = (_: unknown, index: number): Grant => ({
  grantId: `adjustment:${ID.slice(0, -4)}${1_000 + index}`,
  kind: 'adjustment',
  credits: 20,
  remaining: 20,
  held: 0,
  expiresAt: null,
  priceCents: 0,
});

/** The close of March of a book with so many gifts that nobody has used. */
const closeWith = (gifts: number) =>
  periodClosed(
    {
      ...noBook,
      workspaceId: 'ws_1',
      period: '2026-03',
      grants: Array.from({ length: gifts }, gift),
      adjustmentIds: Array.from({ length: gifts }, (_, index) => `${ID.slice(0, -4)}${1_000 + index}`),
    },
    at(NOW),
  );

describe('a book with thousands of gifts', () => {
  it('takes no more of them than the close of a month can carry, and always gives some back', () => {
    const full = closeWith(4_000);
    expect(bytesOf([full])).toBeGreaterThan(MOST_CARRIED_BYTES);
    given(credits, [full]).when(adjust('a1', 20)).thenRejects('BookFull');
    given(credits, [full])
      .when(adjust('a1', -20))
      .then(adjusted('a1', -20, [gift(0, 0).grantId, -20]));
    given(credits, [closeWith(1_000)])
      .when(adjust('a1', 20))
      .then(adjusted('a1', 20, ['adjustment:a1', 20]));
  });
});
