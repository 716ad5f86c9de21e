import { describe, expect, it } from '@jest/globals';
import type { Recorded } from '#event-sourcing/core/event.js';
import type { CreditsEvent } from '../../contracts/events.js';
import { balanceProjection } from './balance.projection.js';

const [balances] = balanceProjection.views;
let revision = 0n;
const event = (type: CreditsEvent['type'], data: object): Recorded =>
  ({
    id: `e${revision}`,
    stream: 'credits-ws_1',
    revision: revision++,
    position: revision,
    type,
    data,
    metadata: { occurredAt: '2026-04-12T10:00:00.000Z' },
  }) as unknown as Recorded;

const opened = event('BookOpened', { period: '2026-04' });
const granted = event('CreditsAdjusted', { amount: 30 });
const reserved = event('CreditsReserved', { reservationId: 'r1', amount: 20, allocations: [] });
const captured = event('CreditsCaptured', { reservationId: 'r1', amount: 20 });
const fold = (events: readonly Recorded[], row: Record<string, unknown> | null = null) =>
  events.reduce((before, one) => balances!.evolve(before, one), row);

describe('the row of a book', () => {
  it('adds up the movements of each event', () => {
    expect(fold([opened, granted, reserved])).toMatchObject({ available: 10, held: 20, adjusted: 30 });
    expect(fold([opened, granted, reserved, captured])).toMatchObject({
      available: 10,
      held: 0,
      consumed: 20,
    });
  });

  it('adds nothing when events are repeated', () => {
    const once = fold([opened, granted, reserved]);
    expect(fold([granted, reserved, captured], once)).toEqual(fold([opened, granted, reserved, captured]));
  });

  it('is refused when it was deleted: the movement would be lost in silence', () => {
    expect(() => fold([reserved])).toThrow(/row of the book is missing/);
  });

  it('is refused when an event overdraws a book, even if a later event of the batch restores it', () => {
    const early = { ...reserved, revision: 1n } as Recorded;
    const late = { ...granted, revision: 2n } as Recorded;
    expect(() => fold([opened, early, late])).toThrow(/overdrawn: available -20/);
  });
});
