import { describe, expect, it } from '@jest/globals';
import { at, captured, expired, packPurchased, released, reserved } from '../../../test/events.js';
import { NOW, adjusted, book, studio } from '../../../test/credits-decider.js';
import type { CreditsEvent } from '../../contracts/events.js';
import type { CreditsCommand, EntryToBook } from './credits.commands.js';
import { learn, nothingKnown, type KnownEntries, type Original } from './reversals.js';

const PACK: Original = { reversible: -50, reversed: 0, grantId: 'pack:o1:flex' };
const knowing = (original: Original, corrections = 0): KnownEntries => ({
  corrections,
  originals: { e1: original },
});
const entry = (amount: number, more: Partial<EntryToBook> = {}): EntryToBook => ({
  adjustmentId: `a${amount}`,
  amount,
  reason: 'granted twice',
  reversesEventId: 'e1',
  reference: 'INC-42',
  expiresAt: null,
  grantId: null,
  ...more,
});
const correct = (known: KnownEntries, entries: readonly EntryToBook[], once = false): CreditsCommand => ({
  type: 'BookCorrection',
  correctionId: 'c1',
  approvedBy: 'grace',
  actor: 'operator:ada',
  entries,
  known,
  once,
  now: at(NOW),
});
const flex = packPurchased('flex', 'o1');

describe('a reversal', () => {
  it('is booked with who proposed and who approved it', () => {
    book(flex)
      .when(correct(knowing(PACK), [entry(-50)]))
      .then({
        type: 'CreditsAdjusted',
        data: {
          adjustmentId: 'a-50',
          amount: -50,
          allocations: [{ grantId: 'pack:o1:flex', amount: -50 }],
          reason: 'granted twice',
          approvedBy: 'grace',
          reversesEventId: 'e1',
          reference: 'INC-42',
          actor: 'operator:ada',
          correctionId: 'c1',
        },
      });
  });

  it('takes or gives at most what the entry moved, together with those before and beside it', () => {
    const refused = { eventId: 'e1', original: -50, reversed: 0 };
    book(flex)
      .when(correct(knowing(PACK), [entry(-51)]))
      .thenRejects('ReversalExceeded', refused);
    book(flex)
      .when(correct(knowing({ ...PACK, reversed: -50 }), [entry(-1)]))
      .thenRejects('ReversalExceeded');
    book(flex, ...studio)
      .when(correct(knowing(PACK), [entry(-30), entry(-21)]))
      .thenRejects('ReversalExceeded', { ...refused, reversed: -30 });
    book(flex)
      .when(correct(knowing(PACK), [entry(1)]))
      .thenRejects('ReversalExceeded');
    book(flex)
      .when(correct(knowing(PACK), [entry(-30), entry(30)]))
      .thenTypes('CreditsAdjusted', 'CreditsAdjusted');
  });

  it('of a pack’s refund happens once, even when a part is left', () => {
    book(flex)
      .when(correct(knowing({ ...PACK, reversed: -10 }), [entry(-10)], true))
      .thenRejects('ReversalExceeded');
  });

  it('takes from the grant that it names, and never what is used or held', () => {
    book(...studio, flex, reserved('r1', ['pack:o1:flex', 20]))
      .when(correct(knowing(PACK), [entry(-50, { grantId: 'pack:o1:flex' })]))
      .thenRejects('InsufficientCredits', { required: 50, available: 30 });
  });

  it('is refused of an entry that the book does not have', () => {
    book(flex)
      .when(correct(nothingKnown, [entry(-50)]))
      .thenRejects('NothingToReverse', { eventId: 'e1' });
  });
});

describe('a correction', () => {
  it('is booked as a whole or not at all, and once', () => {
    const two = [entry(5, { reversesEventId: null }), entry(-80, { reversesEventId: null })];
    book(flex).when(correct(nothingKnown, two)).thenRejects('InsufficientCredits');
    book(flex, adjusted('a5', 5, ['adjustment:a5', 5]))
      .when(correct(nothingKnown, [two[0]!]))
      .thenIgnores('AlreadyBooked');
  });

  it('is decided again when another one came first', () => {
    book(flex, adjusted('a1', 5, ['adjustment:a1', 5]))
      .when(correct(knowing(PACK), [entry(-50)]))
      .thenRejects('BookChanged');
  });
});

describe('what a book knows of an entry', () => {
  const known = (events: readonly CreditsEvent[]) =>
    events.reduce(
      (so, event, index) => learn(so, { ...event, id: `e${index}` }, new Set(['e0'])),
      nothingKnown,
    ).originals['e0'];

  it.each<[string, CreditsEvent, number]>([
    ['a pack', flex, -50],
    ['a month of a plan', studio[1], -400],
    ['a capture', captured('r1'), 20],
    ['an expiry', expired('g', 30, NOW), 30],
    ['a release of which a part expired', released('r1', ['g', 15, 'expired'], ['h', 5, 'available']), 15],
    ['a correction', adjusted('a1', -7, ['g', -7]), 7],
    ['a hold', reserved('r1', ['g', 20]), 0],
  ])('is what %s allows to reverse', (_, event, reversible) => {
    expect(known([event])).toMatchObject({ reversible, reversed: 0 });
  });

  it('counts the corrections that name it', () => {
    const named = (id: string, amount: number): CreditsEvent => {
      const event = adjusted(id, amount, ['pack:o1:flex', amount]);
      return { ...event, data: { ...event.data, reversesEventId: 'e0' } } as CreditsEvent;
    };
    expect(known([flex, named('a1', -30), named('a2', 10)])).toMatchObject({ reversed: -20 });
  });
});
