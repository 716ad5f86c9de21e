import { type Decider, accept, ignore, reject, type Rejection } from '#event-sourcing/core/decider.js';
import type { OrderLineEvent } from '../contracts/events.js';

/** Whose line it is; `null`: nobody has claimed it. */
type OrderLine = OrderLineEvent['data'] | null;

export type OrderLineRejection = Rejection<'ClaimedByOther', OrderLineEvent['data']>;

/** A line belongs to one workspace, for good: the first that claims it. */
export const orderLine: Decider<OrderLineEvent, OrderLineEvent, OrderLine, OrderLineRejection> = {
  initialState: null,
  decide: (event, claim) => {
    if (!claim) return accept(event);
    return claim.workspaceId === event.data.workspaceId
      ? ignore('AlreadyClaimed')
      : reject('ClaimedByOther', claim);
  },
  evolve: (_, { data }) => data,
};
