import type { Recorded } from '@app/event-sourcing/core/event.js';
import { command, type Process } from '@app/event-sourcing/processes/process.js';
import { readingEvents, type ReadingEvent } from '@app/readings/contracts/index.js';
import { SettleReservation } from '../application/settle-reservation/settle-reservation.command.js';

const ACTOR = 'system:billing.settlement';

/**
 * What became of a reading settles its reservation: completed captures it, failed or abandoned releases it. Repeated
 * events change nothing, because a hold settles once.
 */
export const settlement: Process<SettleReservation> = {
  name: 'billing.settlement.v1',
  catalogues: [readingEvents],
  react: (recorded) => {
    const event = recorded as Recorded<ReadingEvent>;
    if (event.type === 'ReadingCompleted') return [command(settle(event, 'capture'))];
    if (event.type === 'ReadingFailed' || event.type === 'ReadingAbandoned') {
      return [command(settle(event, 'release'))];
    }
    return [];
  },
};

type Final = Extract<
  Recorded<ReadingEvent>,
  { type: 'ReadingCompleted' | 'ReadingFailed' | 'ReadingAbandoned' }
>;

const settle = ({ id, data, metadata }: Final, settlement: 'capture' | 'release'): SettleReservation =>
  new SettleReservation(data.workspaceId, data.reservationId, settlement, id, {
    actor: ACTOR,
    correlationId: metadata.correlationId,
    causationId: id,
  });
