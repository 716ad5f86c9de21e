import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import {
  at,
  bookOpened,
  cancelled,
  expired,
  planChanged,
  planGranted,
  subscribed,
} from '../../../test/events.js';
import { APRIL, NOW, book, studio, subscribe } from '../../../test/credits-decider.js';
import type { PlanId } from '../../contracts/catalogue.js';
import type { CreditsEvent } from '../../contracts/events.js';
import type { CreditsCommand } from './credits.commands.js';
import { credits } from './credits.decider.js';

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

  it('is taken back by a change to the present plan', () => {
    inMay(...studio, planChanged('pro', MAY), planChanged('studio', MAY))
      .when(due)
      .then(expired(APRIL, 400, MAY), planGranted('studio', MAY, '2026-06-05'));
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
