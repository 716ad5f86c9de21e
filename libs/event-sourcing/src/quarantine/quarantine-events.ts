import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '../core/event-catalogue.js';

/** Which event: its stream and, in decimal, its revision there. Together they are unique for ever; an id need not be. */
const place = { stream: z.string(), revision: z.string().regex(/^\d+$/) };

/** Decisions of operators that readers pass over an event. They are facts of the stream `quarantine-events`. */
export const quarantineEvents = eventCatalogue('quarantine', {
  EventQuarantined: event(
    1,
    z.strictObject({
      ...place,
      eventId: z.string(),
      eventType: z.string(),
      /** The projections and processes that pass over it; `null`: every reader does. */
      consumers: z.array(z.string()).nullable(),
      /** What was wrong with it. Never values of the event. */
      cause: z.string(),
      reason: z.string(),
      /** When somebody has to look at it again; it stays in force until it is withdrawn. */
      until: z.iso.datetime().nullable(),
    }),
  ),
  /** Readers handle the event again. */
  QuarantineWithdrawn: event(1, z.strictObject({ ...place, reason: z.string() })),
});

export type QuarantineEvent = EventOf<typeof quarantineEvents>;

/** All decisions are in one stream: there are few, and a reader needs all of them. */
export const QUARANTINE_STREAM = 'quarantine-events';
