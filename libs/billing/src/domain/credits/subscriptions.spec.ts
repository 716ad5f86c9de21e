import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { CreditsCommand } from './credits.commands.js';
import { credits } from './credits.decider.js';
import {
  at,
  bookOpened,
  cancelled,
  captured,
  expired,
  packPurchased,
  planChanged,
  planGranted,
  released,
  reserved,
  subscribed,
} from '../../../test/events.js';
import {
  NOW,
  book,
  reserve,
  capture,
  release,
  subscribe,
  purchase,
  studio,
  APRIL,
} from '../../../test/credits-decider.js';

describe('the expiry of a grant', () => {
  const history = [...studio, packPurchased('flex', 'o1'), reserved('r1', [APRIL, 20])];
  const may5 = '2026-05-05T00:00:00.000Z';

  it('is recorded before the next decision of any caller, however late', () => {
    book(...studio, cancelled())
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
    given(credits, [bookOpened('2026-05'), ...history, cancelled(), expired(APRIL, 380, may5)])
      .when(release('r1', '2026-05-05T00:00:01.000Z'))
      .then(released('r1', [APRIL, 20, 'expired']));
  });

  it('divides a hold over an expired and a lasting grant when it is released', () => {
    const spent = reserved('r0', [APRIL, 390]);
    const both = reserved('r2', [APRIL, 10], ['pack:o1:flex', 10]);
    given(credits, [bookOpened('2026-05'), ...studio, packPurchased('flex', 'o1'), spent, both, cancelled()])
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
    const changed = planChanged('pro', '2026-05-05');
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

  it('grants every month that fell due without a command, and lets each expire', () => {
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
    const cancel: CreditsCommand = {
      type: 'CancelSubscription',
      when: 'now',
      now: at(NOW),
      actor: 'operator:ada',
    };
    const end = cancelled(NOW);
    book(...studio)
      .when(cancel)
      .then(end);
    book(...studio, end)
      .when(cancel)
      .thenIgnores('NotSubscribed');
    book(...studio, end)
      .when(reserve('r1'))
      .then(reserved('r1', [APRIL, 20]));
    given(credits, [bookOpened('2026-05'), ...studio, end])
      .when({ type: 'RecordDue', now: at('2026-05-05') })
      .then(expired(APRIL, 400, '2026-05-05'));
  });

  it('started again gets its own number and its own grants', () => {
    book(...studio, cancelled())
      .when(subscribe('studio'))
      .then(subscribed('studio', NOW, 'sub2'), planGranted('studio', NOW, '2026-05-10', 'sub2'));
  });
});
