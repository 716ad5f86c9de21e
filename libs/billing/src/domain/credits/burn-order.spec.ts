import { describe, expect, it } from '@jest/globals';
import type { Grant } from '../../contracts/events.js';
import { allocate, inBurnOrder } from './burn-order.js';

const grant = (grantId: string, kind: Grant['kind'], expiresAt: string | null, remaining = 10): Grant => ({
  grantId,
  kind,
  credits: 10,
  remaining,
  held: 0,
  expiresAt: expiresAt && `${expiresAt}T00:00:00.000Z`,
  priceCents: 100,
});
const order = (...grants: readonly Grant[]) => inBurnOrder(grants).map(({ grantId }) => grantId);

describe('the burn order', () => {
  it('starts with the soonest expiry, regardless of the grant’s age', () => {
    expect(order(grant('later', 'plan', '2026-06-05'), grant('sooner', 'plan', '2026-05-05'))).toEqual([
      'sooner',
      'later',
    ]);
  });

  it('ends with what never expires', () => {
    expect(order(grant('lasting', 'pack', null), grant('expiring', 'plan', '2026-05-05'))).toEqual([
      'expiring',
      'lasting',
    ]);
  });

  it('puts a plan before a pack of the same expiry', () => {
    expect(order(grant('pack', 'pack', '2026-05-05'), grant('plan', 'plan', '2026-05-05'))).toEqual([
      'plan',
      'pack',
    ]);
  });

  it('puts the older of two otherwise equal grants first', () => {
    expect(
      order(grant('old', 'pack', null), grant('adjusted', 'adjustment', null), grant('new', 'pack', null)),
    ).toEqual(['old', 'adjusted', 'new']);
  });
});

describe('an allocation', () => {
  const grants = [grant('empty', 'pack', null, 0), grant('a', 'pack', null), grant('b', 'pack', null)];

  it('takes all of a grant before the next, and nothing from an empty one', () => {
    expect(allocate(grants, 13)).toEqual([
      { grantId: 'a', amount: 10 },
      { grantId: 'b', amount: 3 },
    ]);
  });

  it('takes the last credit, and not one more', () => {
    expect(allocate(grants, 20)).not.toBeNull();
    expect(allocate(grants, 21)).toBeNull();
  });
});
