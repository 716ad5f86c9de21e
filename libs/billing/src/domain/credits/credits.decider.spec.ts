import { describe, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import type { PackId, PlanId } from '../../contracts/catalogue.js';
import type { CreditsEvent } from '../../contracts/events.js';
import type { CreditsCommand } from './credits.commands.js';
import { credits } from './credits.decider.js';
import {
  at,
  bookOpened,
  captured,
  expired,
  packPurchased,
  planGranted,
  released,
  reserved,
  subscribed,
} from '../../../test/events.js';

const NOW = '2026-04-10T12:00:00.000Z';
const book = (...events: readonly CreditsEvent[]) => given(credits, [bookOpened(), ...events]);
const reserve = (reservationId: string, amount = 20, now = NOW): CreditsCommand => ({
  type: 'ReserveCredits',
  reservationId,
  readingId: `reading of ${reservationId}`,
  amount,
  now: at(now),
});
const capture = (reservationId: string, now = NOW): CreditsCommand => ({
  type: 'CaptureCredits',
  reservationId,
  causeEventId: `end of ${reservationId}`,
  now: at(now),
});
const release = (reservationId: string, now = NOW): CreditsCommand =>
  ({
    ...capture(reservationId, now),
    type: 'ReleaseCredits',
  }) as CreditsCommand;
const subscribe = (plan: PlanId, approvalRef: string | null = null, now = NOW): CreditsCommand => ({
  type: 'SubscribeToPlan',
  plan,
  approvalRef,
  now: at(now),
});
const purchase = (pack: PackId, orderRef: string, now = NOW): CreditsCommand => ({
  type: 'PurchasePack',
  pack,
  orderRef,
  now: at(now),
});
const adjust = (adjustmentId: string, amount: number): CreditsCommand => ({
  type: 'AdjustCredits',
  adjustmentId,
  amount,
  reason: 'goodwill',
  approvedBy: 'operator:ada',
  reversesEventId: null,
  now: at(NOW),
});
const adjusted = (
  adjustmentId: string,
  amount: number,
  ...allocations: (readonly [string, number])[]
): CreditsEvent => ({
  type: 'CreditsAdjusted',
  data: {
    adjustmentId,
    amount,
    allocations: allocations.map(([grantId, part]) => ({ grantId, amount: part })),
    reason: 'goodwill',
    approvedBy: 'operator:ada',
    reversesEventId: null,
  },
});

const studio = [
  subscribed('studio', '2026-04-05'),
  planGranted('studio', '2026-04-05', '2026-05-05'),
] as const;
const APRIL = 'plan:sub1:2026-04';

describe('a credit book', () => {
  it('is opened once, with the month of its opening', () => {
    const open: CreditsCommand = { type: 'OpenBook', workspaceId: 'ws_1', now: at(NOW) };
    given(credits, []).when(open).then(bookOpened('2026-04'));
    book().when(open).thenIgnores('AlreadyOpen');
  });

  it('refuses every other command until it is open', () => {
    for (const command of [
      reserve('r1'),
      capture('r1'),
      subscribe('studio'),
      purchase('flex', 'o1'),
      adjust('a', 5),
    ]) {
      given(credits, []).when(command).thenRejects('BookNotOpen');
    }
  });

  it('refuses to date anything in a month that is closed', () => {
    given(credits, [bookOpened('2026-05')])
      .when(purchase('flex', 'o1', '2026-04-30T23:59:59.999Z'))
      .thenRejects('PeriodIsClosed', { notBefore: at('2026-05-01') });
  });
});

describe('reserving credits', () => {
  it('holds the amount from the grant that has it', () => {
    book(packPurchased('flex', 'o1'))
      .when(reserve('r1'))
      .then(reserved('r1', ['pack:o1', 20]));
  });

  it('is refused when fewer credits are available, and says how many are', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1', 20]), reserved('r2', ['pack:o1', 20]))
      .when(reserve('r3'))
      .thenRejects('InsufficientCredits', { required: 20, available: 10 });
  });

  it('holds nothing more when the reservation is open already', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1', 20]))
      .when(reserve('r1'))
      .thenIgnores('AlreadyReserved');
  });

  it('is refused for a reservation that was captured or released', () => {
    const history = [packPurchased('flex', 'o1'), reserved('r1', ['pack:o1', 20])];
    book(...history, captured('r1'))
      .when(reserve('r1'))
      .thenRejects('ReservationSettled', { reservationId: 'r1' });
    book(...history, released('r1', ['pack:o1', 20, 'available']))
      .when(reserve('r1'))
      .thenRejects('ReservationSettled', { reservationId: 'r1' });
  });

  it('spends the plan before the pack, although the pack is older', () => {
    book(packPurchased('flex', 'o1'), ...studio)
      .when(reserve('r1'))
      .then(reserved('r1', [APRIL, 20]));
  });

  it('spends the grant that expires soonest first', () => {
    book(
      ...studio,
      { type: 'SubscriptionCancelled', data: { subscriptionId: 'sub1', plan: 'studio' } },
      subscribed('pro', '2026-04-08', 'sub2'),
      planGranted('pro', '2026-04-08', '2026-05-08', 'sub2'),
    )
      .when(reserve('r1', 420))
      .then(reserved('r1', [APRIL, 400], ['plan:sub2:2026-04', 20]));
  });

  it('spends the oldest pack first', () => {
    book(packPurchased('flex', 'o1'), packPurchased('sprint', 'o2'))
      .when(reserve('r1', 60))
      .then(reserved('r1', ['pack:o1', 50], ['pack:o2', 10]));
  });

  it('spends an adjustment in the order of its arrival among the packs', () => {
    book(adjusted('a1', 30, ['adjustment:a1', 30]), packPurchased('flex', 'o1'))
      .when(reserve('r1', 40))
      .then(reserved('r1', ['adjustment:a1', 30], ['pack:o1', 10]));
  });
});

describe('settling a reservation', () => {
  const held = [packPurchased('flex', 'o1'), reserved('r1', ['pack:o1', 20])];

  it('captures what was held, with the event that earned it', () => {
    book(...held)
      .when(capture('r1'))
      .then(captured('r1'));
  });

  it('releases what was held to the grants it came from', () => {
    book(...held)
      .when(release('r1'))
      .then(released('r1', ['pack:o1', 20, 'available']));
  });

  it('happens once: whatever comes later changes nothing', () => {
    for (const settled of [captured('r1'), released('r1', ['pack:o1', 20, 'available'])]) {
      book(...held, settled)
        .when(capture('r1'))
        .thenIgnores('AlreadySettled');
      book(...held, settled)
        .when(release('r1'))
        .thenIgnores('AlreadySettled');
    }
  });

  it('changes nothing for a reservation it does not know', () => {
    book(...held)
      .when(capture('r2'))
      .thenIgnores('UnknownReservation');
  });

  it('makes released credits available again', () => {
    book(...held, released('r1', ['pack:o1', 20, 'available']))
      .when(reserve('r2', 50))
      .then(reserved('r2', ['pack:o1', 50]));
  });
});

describe('the expiry of a grant', () => {
  const history = [...studio, packPurchased('flex', 'o1'), reserved('r1', [APRIL, 20])];
  const may5 = '2026-05-05T00:00:00.000Z';

  it('happens before the next decision, whoever asks and however late', () => {
    book(...studio, { type: 'SubscriptionCancelled', data: { subscriptionId: 'sub1', plan: 'studio' } })
      .when(reserve('r1', 20, '2026-05-06'))
      .thenRejects('InsufficientCredits', { required: 20, available: 0 });
  });

  it('comes at its very instant and not before', () => {
    const pack = purchase('flex', 'o2', '2026-05-04T23:59:59.999Z');
    book(...history)
      .when(pack)
      .thenTypes('PeriodClosed', 'PackPurchased');
    book(...history)
      .when({ ...pack, now: at(may5) })
      .thenTypes('PeriodClosed', 'GrantExpired', 'PlanGranted', 'PackPurchased');
  });

  it('leaves a hold alone, which may still be captured', () => {
    book(...history, expired(APRIL, 380, may5))
      .when(capture('r1'))
      .then(captured('r1'));
  });

  it('sends a hold released after it to expired', () => {
    const cancelled = {
      type: 'SubscriptionCancelled',
      data: { subscriptionId: 'sub1', plan: 'studio' },
    } as const;
    given(credits, [bookOpened('2026-05'), ...history, cancelled, expired(APRIL, 380, may5)])
      .when(release('r1', '2026-05-05T00:00:01.000Z'))
      .then(released('r1', [APRIL, 20, 'expired']));
  });

  it('divides a hold over an expired and a lasting grant when it is released', () => {
    const spent = reserved('r0', [APRIL, 390]);
    const cancelled = {
      type: 'SubscriptionCancelled',
      data: { subscriptionId: 'sub1', plan: 'studio' },
    } as const;
    const both = reserved('r2', [APRIL, 10], ['pack:o1', 10]);
    given(credits, [bookOpened('2026-05'), ...studio, packPurchased('flex', 'o1'), spent, both, cancelled])
      .when(release('r2', may5))
      .then(released('r2', [APRIL, 10, 'expired'], ['pack:o1', 10, 'available']));
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

  it('is started once', () => {
    book(...studio)
      .when(subscribe('studio'))
      .thenIgnores('AlreadySubscribed');
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
    const changed: CreditsEvent = {
      type: 'SubscriptionChanged',
      data: { subscriptionId: 'sub1', previousPlan: 'studio', plan: 'pro', approvalRef: null },
    };
    book(...studio)
      .when(subscribe('pro'))
      .then(changed);
    given(credits, [bookOpened('2026-05'), ...studio, changed])
      .when({ type: 'RecordDue', now: at('2026-05-05') })
      .then(expired(APRIL, 400, '2026-05-05'), planGranted('pro', '2026-05-05', '2026-06-05'));
  });

  it('grants on the last day of a month that lacks its day, and returns to it after', () => {
    const started = subscribed('studio', '2026-01-31');
    const january = planGranted('studio', '2026-01-31', '2026-02-28');
    const february = planGranted('studio', '2026-02-28', '2026-03-31');
    given(credits, [bookOpened('2026-02'), started, january])
      .when({ type: 'RecordDue', now: at('2026-02-28') })
      .then(expired('plan:sub1:2026-01', 400, '2026-02-28'), february);
  });

  it('grants every month that fell due while nobody looked, and lets each expire', () => {
    const due: CreditsCommand = { type: 'RecordDue', now: at('2026-07-01') };
    book(...studio)
      .when(due)
      .thenTypes(
        'PeriodClosed',
        'GrantExpired',
        'PlanGranted',
        'PeriodClosed',
        'GrantExpired',
        'PlanGranted',
        'PeriodClosed',
      );
  });

  it('records what is due once', () => {
    book(...studio)
      .when({ type: 'RecordDue', now: at(NOW) })
      .thenIgnores('NothingDue');
  });

  it('grants no more once it is cancelled, but keeps what it granted', () => {
    const cancelled: CreditsEvent = {
      type: 'SubscriptionCancelled',
      data: { subscriptionId: 'sub1', plan: 'studio' },
    };
    const cancel: CreditsCommand = { type: 'CancelSubscription', now: at(NOW) };
    book(...studio)
      .when(cancel)
      .then(cancelled);
    book(...studio, cancelled)
      .when(cancel)
      .thenIgnores('NotSubscribed');
    book(...studio, cancelled)
      .when(reserve('r1'))
      .then(reserved('r1', [APRIL, 20]));
    given(credits, [bookOpened('2026-05'), ...studio, cancelled])
      .when({ type: 'RecordDue', now: at('2026-05-05') })
      .then(expired(APRIL, 400, '2026-05-05'));
  });

  it('started anew gets its own number and its own grants', () => {
    const cancelled = {
      type: 'SubscriptionCancelled',
      data: { subscriptionId: 'sub1', plan: 'studio' },
    } as const;
    book(...studio, cancelled)
      .when(subscribe('studio'))
      .then(subscribed('studio', NOW, 'sub2'), planGranted('studio', NOW, '2026-05-10', 'sub2'));
  });
});

describe('a pack', () => {
  it('is added once per order', () => {
    book().when(purchase('sprint', 'o1')).then(packPurchased('sprint', 'o1'));
    book(packPurchased('sprint', 'o1')).when(purchase('sprint', 'o1')).thenIgnores('AlreadyPurchased');
  });

  it('is not added again for its order, even when it is used up', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1', 50]), captured('r1', 50))
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
      .then(adjusted('a1', -410, [APRIL, -400], ['pack:o1', -10]));
  });

  it('never takes what is held', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1', 20]))
      .when(adjust('a1', -31))
      .thenRejects('InsufficientCredits', { required: 31, available: 30 });
  });

  it('is made once', () => {
    book(adjusted('a1', 30, ['adjustment:a1', 30]))
      .when(adjust('a1', 30))
      .thenIgnores('AlreadyAdjusted');
  });
});
