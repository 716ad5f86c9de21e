import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { CreditsCommand } from './credits.commands.js';
import { credits } from './credits.decider.js';
import { at, bookOpened, captured, packPurchased, reserved } from '../../../test/events.js';
import {
  NOW,
  book,
  reserve,
  capture,
  subscribe,
  purchase,
  adjust,
  adjusted,
  studio,
  APRIL,
} from '../../../test/credits-decider.js';

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

  it('never takes what is held', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 20]))
      .when(adjust('a1', -31))
      .thenRejects('InsufficientCredits', { required: 31, available: 30 });
  });

  it('is made once', () => {
    book(adjusted('a1', 30, ['adjustment:a1', 30]))
      .when(adjust('a1', 30))
      .thenIgnores('AlreadyBooked');
  });
});
