import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { PACK_IDS } from './catalogue.js';

/**
 * Stream `orderline-<id>`: which workspace a pack of an order belongs to. The id follows from order and pack, so that one
 * line is granted once in the whole installation.
 */
export const orderLineEvents = eventCatalogue('orderline', {
  /** Before the pack is granted. `grantId`: its grant in the book of the workspace. */
  OrderLineClaimed: event(
    1,
    z.strictObject({
      orderRef: z.string().min(1),
      pack: z.enum(PACK_IDS),
      workspaceId: z.string(),
      grantId: z.string(),
    }),
  ),
});
export type OrderLineEvent = EventOf<typeof orderLineEvents>;
