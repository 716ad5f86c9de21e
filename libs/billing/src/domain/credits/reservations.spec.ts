import { describe, it } from '@jest/globals';
import {
  cancelled,
  captured,
  packPurchased,
  planGranted,
  released,
  reserved,
  subscribed,
} from '../../../test/events.js';
import { book, reserve, capture, release, adjusted, studio, APRIL } from '../../../test/credits-decider.js';

describe('reserving credits', () => {
  it('holds the amount from the grant that has it', () => {
    book(packPurchased('flex', 'o1'))
      .when(reserve('r1'))
      .then(reserved('r1', ['pack:o1:flex', 20]));
  });

  it('is refused when fewer credits are available, and says how many are', () => {
    book(
      packPurchased('flex', 'o1'),
      reserved('r1', ['pack:o1:flex', 20]),
      reserved('r2', ['pack:o1:flex', 20]),
    )
      .when(reserve('r3'))
      .thenRejects('InsufficientCredits', { required: 20, available: 10 });
  });

  it('holds nothing more when the reservation is open already', () => {
    book(packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 20]))
      .when(reserve('r1'))
      .thenIgnores('AlreadyReserved');
  });

  it('is refused for a reservation that was captured or released', () => {
    const history = [packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 20])];
    book(...history, captured('r1'))
      .when(reserve('r1'))
      .thenRejects('ReservationSettled', { reservationId: 'r1' });
    book(...history, released('r1', ['pack:o1:flex', 20, 'available']))
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
      cancelled(),
      subscribed('pro', '2026-04-08', 'sub2'),
      planGranted('pro', '2026-04-08', '2026-05-08', 'sub2'),
    )
      .when(reserve('r1', 420))
      .then(reserved('r1', [APRIL, 400], ['plan:sub2:2026-04', 20]));
  });

  it('spends the oldest pack first', () => {
    book(packPurchased('flex', 'o1'), packPurchased('sprint', 'o2'))
      .when(reserve('r1', 60))
      .then(reserved('r1', ['pack:o1:flex', 50], ['pack:o2:sprint', 10]));
  });

  it('spends an adjustment in the order of its arrival among the packs', () => {
    book(adjusted('a1', 30, ['adjustment:a1', 30]), packPurchased('flex', 'o1'))
      .when(reserve('r1', 40))
      .then(reserved('r1', ['adjustment:a1', 30], ['pack:o1:flex', 10]));
  });
});

describe('settling a reservation', () => {
  const held = [packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 20])];

  it('captures what was held, with the event that earned it', () => {
    book(...held)
      .when(capture('r1'))
      .then(captured('r1'));
  });

  it('releases what was held to the grants it came from', () => {
    book(...held)
      .when(release('r1'))
      .then(released('r1', ['pack:o1:flex', 20, 'available']));
  });

  it('happens once: whatever comes later changes nothing', () => {
    for (const settled of [captured('r1'), released('r1', ['pack:o1:flex', 20, 'available'])]) {
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
    book(...held, released('r1', ['pack:o1:flex', 20, 'available']))
      .when(reserve('r2', 50))
      .then(reserved('r2', ['pack:o1:flex', 50]));
  });
});
