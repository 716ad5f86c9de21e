import { selectEvents, type RecordedOf } from '@app/event-sourcing/core/event-catalogue.js';
import { causedBy, causeOf } from '@app/event-sourcing/core/request-context.js';
import { command, defineProcess } from '@app/event-sourcing/processes/process.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import { SettleReservation } from '../application/settle-reservation/settle-reservation.command.js';

const endsOfReadings = [
  selectEvents(readingEvents, 'ReadingCompleted', 'ReadingFailed', 'ReadingAbandoned'),
] as const;

/**
 * The outcome of a reading settles its reservation: `ReadingCompleted` captures it, failed or abandoned releases it.
 * Repeated events change nothing, because a hold settles once.
 */
export const settlement = defineProcess({
  name: 'billing.settlement.v1',
  catalogues: endsOfReadings,
  react: (event) => {
    switch (event.type) {
      case 'ReadingCompleted':
        return [command(settle(event, 'capture'))];
      case 'ReadingFailed':
      case 'ReadingAbandoned':
        return [command(settle(event, 'release'))];
    }
  },
});

const settle = (
  event: RecordedOf<typeof endsOfReadings>,
  settlement: 'capture' | 'release',
): SettleReservation => {
  const { workspaceId, reservationId } = event.data;
  const by = causedBy(causeOf(event), 'billing.settlement');
  return new SettleReservation(workspaceId, reservationId, settlement, event.id, by);
};
