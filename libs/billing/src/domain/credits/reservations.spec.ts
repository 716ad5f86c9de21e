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

const many = (all: boolean, ...ids: readonly string[]) => {
  const reservations = ids.map((reservationId) => ({
    reservationId,
    readingId: `reading of ${reservationId}`,
  }));
  return { type: 'ReserveMany', reservations, amount: 20, all, now: reserve('r1').now } as const;
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
