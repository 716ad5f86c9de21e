import { selectEvents, type RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import { causedBy, causeOf } from '#event-sourcing/core/request-context.js';
import { command, defineProcess } from '#event-sourcing/processes/process.js';
import { readingEvents } from '#readings/contracts/index.js';
import { SettleReservation } from '../application/settle-reservation/settle-reservation.command.js';

const endsOfReadings = [
  selectEvents(readingEvents, 'ReadingCompleted', 'ReadingFailed', 'ReadingAbandoned'),
] as const;

/**
 * The outcome of a reading settles its reservation: `ReadingCompleted` captures it, failed or abandoned releases it.
 * Repeated events change nothing, because a hold settles once.
 *
 * Each mode has a process of its own, with its own checkpoint: whatever stops one leaves the other alone. A worker from
 * before test mode runs only the first, so it cannot pass over a test reading.
 */
const settlementOf = (name: string, actor: string, livemode: boolean) =>
  defineProcess({
    name,
    catalogues: endsOfReadings,
    react: (event) => (event.data.livemode === livemode ? [command(settle(event, actor))] : []),
  });

/** The process that captures: a reading that it passes over is not captured. */
export const SETTLEMENT = 'billing.settlement.v1';
/** The same for test readings. */
export const TEST_SETTLEMENT = 'billing.test-settlement.v1';

export const settlement = settlementOf(SETTLEMENT, 'billing.settlement', true);
export const testSettlement = settlementOf(TEST_SETTLEMENT, 'billing.test-settlement', false);

const settle = (event: RecordedOf<typeof endsOfReadings>, actor: string): SettleReservation => {
  const { workspaceId, livemode, reservationId } = event.data;
  const outcome = event.type === 'ReadingCompleted' ? 'capture' : 'release';
  const by = causedBy(causeOf(event), actor);
  return new SettleReservation(workspaceId, reservationId, livemode, outcome, event.id, by);
};
