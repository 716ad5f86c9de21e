import { describe, it, expect } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { type CreditsCommand, credits } from './credits.decider.js';
import {
  at,
  bookOpened,
  captured,
  packPurchased,
  reserved,
  cancelled,
  planGranted,
  released,
  subscribed,
  expired,
  planChanged,
} from '../../test/events.js';
import {
  NOW,
  book,
  reserve,
  subscribe,
  purchase,
  adjust,
  adjusted,
  studio,
  APRIL,
  release,
} from '../../test/credits-decider.js';
import type { Grant, CreditsEvent } from '../contracts/events.js';
import { allocate } from './credits.state.js';
import type { PlanId } from '../contracts/catalogue.js';

describe('a credit book', () => {
  it('is opened once, with the month of its opening', () => {
    const open: CreditsCommand = { type: 'OpenBook', workspaceId: 'ws_1', now: at(NOW) };
    given(credits, []).when(open).then(bookOpened('2026-04'));
    book().when(open).thenIgnores('AlreadyOpen');
  });

  it('that was closed too far, by a clock that was wrong, posts in the open month what happens before it', () => {
    given(credits, [bookOpened('2026-05')])
      .when(purchase('flex', 'o1', '2026-04-30T23:59:59.999Z'))
      .then(packPurchased('flex', 'o1'));
  });
});

describe('a pack', () => {
  it('is added once per order', () => {
    book().when(purchase('sprint', 'o1')).then(packPurchased('sprint', 'o1'));
    book(packPurchased('sprint', 'o1')).when(purchase('sprint', 'o1')).thenIgnores('AlreadyPurchased');
    // The case of a reference counts.
    book(packPurchased('sprint', 'o1')).when(purchase('sprint', 'O1')).then(packPurchased('sprint', 'O1'));
  });

  it('is not added again for its order, even when it is used up', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 50]), captured('r1', 50))
      .when(purchase('flex', 'o1'))
      .thenIgnores('AlreadyPurchased');
  });
});

describe('an adjustment', () => {
  it('upwards is a grant of its own, with reason and approver', () => {
    book()
      .when(adjust('a1', 30))
      .then(adjusted('a1', 30, ['adjustment:a1', 30]));
  });

  it('downwards takes from the grants in burn order', () => {
    book(...studio, packPurchased('flex', 'o1'))
      .when(adjust('a1', -410))
      .then(adjusted('a1', -410, [APRIL, -400], ['pack:o1:flex', -10]));
  });
});

describe('an allocation', () => {
  it('takes of a plan before a correction that expires with it', () => {
    const grants = (['adjustment', 'plan'] as const).map((kind): Grant => ({
      ...{ grantId: kind, kind, credits: 10, remaining: 10, held: 0, priceCents: 100 },
      expiresAt: '2026-05-05T00:00:00.000Z',
    }));
    expect(allocate(grants, 5)).toEqual([{ grantId: 'plan', amount: 5 }]);
  });
});

describe('reservations', () => {
  const many = (all: boolean, ...ids: readonly string[]) => {
    const reservations = ids.map((reservationId) => ({
      reservationId,
      readingId: `reading of ${reservationId}`,
    }));
    return { type: 'ReserveCredits', reservations, amount: 20, all, now: at(NOW) } as const;
  };

  describe('reserving for many readings', () => {
    it('holds for each in order, from as many grants as it takes', () => {
      book(packPurchased('flex', 'o1'), packPurchased('flex', 'o2'))
        .when(many(true, 'r1', 'r2', 'r3'))
        .then(
          reserved('r1', ['pack:o1:flex', 20]),
          reserved('r2', ['pack:o1:flex', 20]),
          reserved('r3', ['pack:o1:flex', 10], ['pack:o2:flex', 10]),
        );
    });

    it('holds for none when it must be for all and the credits do not reach', () => {
      book(packPurchased('flex', 'o1'))
        .when(many(true, 'r1', 'r2', 'r3'))
        .thenRejects('InsufficientCredits', { required: 60, available: 50 });
    });

    it('holds for the first when it may be for some, and is refused when it reaches for none', () => {
      book(packPurchased('flex', 'o1'))
        .when(many(false, 'r1', 'r2', 'r3'))
        .then(reserved('r1', ['pack:o1:flex', 20]), reserved('r2', ['pack:o1:flex', 20]));
      book().when(many(false, 'r1')).thenRejects('InsufficientCredits', { required: 20, available: 0 });
    });

    it('leaves out those that are open or settled', () => {
      const history = [
        packPurchased('flex', 'o1'),
        reserved('r1', ['pack:o1:flex', 20]),
        released('r1', ['pack:o1:flex', 20, 'available']),
      ];
      book(...history, reserved('r2', ['pack:o1:flex', 20]))
        .when(many(true, 'r1', 'r2', 'r3'))
        .then(reserved('r3', ['pack:o1:flex', 20]));
      book(...history)
        .when(many(true, 'r1'))
        .thenIgnores('AlreadyReserved');
    });

    it('keeps those that a first request holds when it reaches for no other', () => {
      const history = [
        packPurchased('flex', 'o1'),
        reserved('r1', ['pack:o1:flex', 20]),
        reserved('r2', ['pack:o1:flex', 20]),
      ];
      book(...history)
        .when(many(false, 'r1', 'r2', 'r3'))
        .thenIgnores('AlreadyReserved');
      book(...history)
        .when(many(true, 'r1', 'r2', 'r3'))
        .thenRejects('InsufficientCredits', { required: 20, available: 10 });
    });
  });

  describe('reserving credits', () => {
    it('spends the plan before the pack, although the pack is older', () => {
      book(packPurchased('flex', 'o1'), ...studio)
        .when(reserve('r1'))
        .then(reserved('r1', [APRIL, 20]));
    });

    it('spends the grant that expires soonest first', () => {
      book(
        ...studio,
        cancelled(),
        subscribed('pro', '2026-04-08', 'sub2'),
        planGranted('pro', '2026-04-08', '2026-05-08', 'sub2'),
      )
        .when(reserve('r1', 420))
        .then(reserved('r1', [APRIL, 400], ['plan:sub2:2026-04', 20]));
    });
  });
});

describe('subscriptions', () => {
  describe('the expiry of a grant', () => {
    const history = [...studio, packPurchased('flex', 'o1'), reserved('r1', [APRIL, 20])];
    const may5 = '2026-05-05T00:00:00.000Z';

    it('comes at its very instant and not before', () => {
      const pack = purchase('flex', 'o2', '2026-05-04T23:59:59.999Z');
      book(...history)
        .when(pack)
        .thenTypes('PeriodClosed', 'PackPurchased');
      book(...history)
        .when({ ...pack, now: at(may5) })
        .thenTypes('PeriodClosed', 'GrantExpired', 'PlanGranted', 'PackPurchased');
    });

    it('divides a hold over an expired and a lasting grant when it is released', () => {
      const spent = reserved('r0', [APRIL, 390]);
      const both = reserved('r2', [APRIL, 10], ['pack:o1:flex', 10]);
      given(credits, [
        bookOpened('2026-05'),
        ...studio,
        packPurchased('flex', 'o1'),
        spent,
        both,
        cancelled(),
      ])
        .when(release('r2', may5))
        .then(released('r2', [APRIL, 10, 'expired'], ['pack:o1:flex', 10, 'available']));
    });
  });

  describe('a subscription', () => {
    it('grants its first month at once, up to the same day of the next month', () => {
      book()
        .when(subscribe('studio', null, '2026-04-05T09:30:00.000Z'))
        .then(
          subscribed('studio', '2026-04-05T09:30:00.000Z'),
          planGranted('studio', '2026-04-05T09:30:00.000Z', '2026-05-05'),
        );
    });

    it('to Access Local needs a reference to an approval', () => {
      book().when(subscribe('access_local')).thenRejects('ApprovalRequired', { plan: 'access_local' });
      book().when(subscribe('access_local', '')).thenRejects('ApprovalRequired', { plan: 'access_local' });
      book()
        .when(subscribe('access_local', 'approval-7'))
        .then(
          subscribed('access_local', NOW, 'sub1', 'approval-7'),
          planGranted('access_local', NOW, '2026-05-10'),
        );
    });

    it('changes its plan with the next monthly grant', () => {
      const changed = planChanged('pro', '2026-05-05');
      book(...studio)
        .when(subscribe('pro'))
        .then(changed);
      given(credits, [bookOpened('2026-05'), ...studio, changed])
        .when({ type: 'RecordDue', now: at('2026-05-05') })
        .then(expired(APRIL, 400, '2026-05-05'), planGranted('pro', '2026-05-05', '2026-06-05'));
    });

    it('records what is due once', () => {
      book(...studio)
        .when({ type: 'RecordDue', now: at(NOW) })
        .thenIgnores('NothingDue');
    });
  });
});

describe('changes of subscriptions', () => {
  const MAY = '2026-05-05';
  const cancel = (when?: 'now' | 'period_end'): CreditsCommand => ({
    type: 'CancelSubscription',
    ...(when && { when }),
    now: at(NOW),
    actor: 'operator:ada',
  });
  const changeNow = (plan: PlanId): CreditsCommand => ({
    ...(subscribe(plan) as Extract<CreditsCommand, { type: 'SubscribeToPlan' }>),
    when: 'now',
  });
  const inMay = (...events: readonly CreditsEvent[]) => given(credits, [bookOpened('2026-05'), ...events]);
  const due: CreditsCommand = { type: 'RecordDue', now: at(MAY) };

  describe('a change of plan', () => {
    it('made twice counts once; the last one counts', () => {
      book(...studio, planChanged('pro', MAY))
        .when(subscribe('pro'))
        .thenIgnores('AlreadySubscribed');
      inMay(...studio, planChanged('pro', MAY), planChanged('growth', MAY))
        .when(due)
        .then(expired(APRIL, 400, MAY), planGranted('growth', MAY, '2026-06-05'));
    });

    it('is taken back by a change to the present plan at once, which sells no second month', () => {
      const withdrawal = planChanged('studio', MAY);
      book(...studio, planChanged('pro', MAY))
        .when(changeNow('studio'))
        .then(withdrawal);
      book(...studio, cancelled(MAY))
        .when(changeNow('studio'))
        .then(withdrawal);
    });

    it('at once ends the subscription, and starts another with a month of its own', () => {
      book(...studio)
        .when(changeNow('pro'))
        .then(cancelled(NOW), subscribed('pro', NOW, 'sub2'), planGranted('pro', NOW, '2026-05-10', 'sub2'));
      book(...studio)
        .when(changeNow('studio'))
        .thenIgnores('AlreadySubscribed');
    });

    it('needs a subscription, unless it may start one', () => {
      book()
        .when({ ...subscribe('pro'), onlyChange: true } as CreditsCommand)
        .thenRejects('NotSubscribed');
    });
  });

  describe('a cancellation', () => {
    it('takes effect with the next grant, which is not made', () => {
      book(...studio)
        .when(cancel())
        .then(cancelled(MAY));
      inMay(...studio, cancelled(MAY))
        .when(due)
        .then(expired(APRIL, 400, MAY));
    });

    it('made twice counts once, and may still be made at once', () => {
      book().when(cancel()).thenIgnores('NotSubscribed');
      book(...studio, cancelled(MAY))
        .when(cancel())
        .thenIgnores('AlreadyCancelled');
      book(...studio, cancelled(MAY))
        .when(cancel('now'))
        .then(cancelled(NOW));
    });

    it('withdraws a change of plan', () => {
      inMay(...studio, planChanged('pro', MAY), cancelled(MAY))
        .when(due)
        .then(expired(APRIL, 400, MAY));
    });

    it('is withdrawn by a change before it takes effect: the subscription continues', () => {
      const resumed = planChanged('studio', MAY);
      book(...studio, cancelled(MAY))
        .when(subscribe('studio'))
        .then(resumed);
      inMay(...studio, cancelled(MAY), resumed)
        .when(due)
        .then(expired(APRIL, 400, MAY), planGranted('studio', MAY, '2026-06-05'));
    });

    it('that has taken effect leaves no subscription to change', () => {
      const june = { ...subscribe('pro', null, '2026-06-10T12:00:00.000Z') };
      const ended = [...studio, cancelled(MAY), expired(APRIL, 400, MAY)];
      given(credits, [bookOpened('2026-06'), ...ended])
        .when({ ...june, onlyChange: true } as CreditsCommand)
        .thenRejects('NotSubscribed');
      given(credits, [bookOpened('2026-06'), ...ended])
        .when(june)
        .thenTypes('SubscriptionStarted', 'PlanGranted');
    });
  });
});
