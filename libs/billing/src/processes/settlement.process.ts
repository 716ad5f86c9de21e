import { selectEvents, type RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import { causedBy, causeOf } from '#event-sourcing/core/request-context.js';
import { command, defineProcess } from '#event-sourcing/processes/process.js';
import { readingEvents } from '#readings/contracts/index.js';
import { SettleReservation } from '../application/settle-reservation/settle-reservation.command.js';

const endsOfReadings = [
  selectEvents(readingEvents, 'ReadingCompleted', 'ReadingFailed', 'ReadingAbandoned'),
] as const;

/** The process that captures: a reading that it passes over is not captured. */
export const SETTLEMENT = 'billing.settlement.v1';

/**
 * The outcome of a reading settles its reservation: `ReadingCompleted` captures it, failed or abandoned releases it.
 * Repeated events change nothing, because a hold settles once.
 */
export const settlement = defineProcess({
  name: SETTLEMENT,
  catalogues: endsOfReadings,
  react: (event) => [command(settle(event))],
});

const settle = (event: RecordedOf<typeof endsOfReadings>): SettleReservation => {
  const { workspaceId, livemode, reservationId } = event.data;
  const outcome = event.type === 'ReadingCompleted' ? 'capture' : 'release';
  const by = causedBy(causeOf(event), 'billing.settlement');
  return new SettleReservation(workspaceId, reservationId, livemode, outcome, event.id, by);
};
