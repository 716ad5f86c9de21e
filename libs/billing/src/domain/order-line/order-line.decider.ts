import type { Decider } from '#event-sourcing/core/decider.js';
import { accept, ignore, reject, type Rejection } from '#event-sourcing/core/decision.js';
import type { OrderLineEvent } from '../../contracts/order-lines.js';

type Claim = Extract<OrderLineEvent, { type: 'OrderLineClaimed' }>['data'];

export type OrderLineRejection = Rejection<'ClaimedByOther', Claim>;

/** The claim of a line; of `orderline-earlier`, whether older orders have their lines. */
export interface OrderLine {
  readonly claim: Claim | null;
  readonly hasEarlier: boolean;
}

/** A line belongs to one workspace, for good: the first that claims it. */
export const orderLine: Decider<OrderLineEvent, OrderLineEvent, OrderLine, OrderLineRejection> = {
  initialState: { claim: null, hasEarlier: false },
  decide: (event, { claim, hasEarlier }) => {
    if (event.type === 'EarlierOrdersClaimed') return hasEarlier ? ignore('AlreadyClaimed') : accept(event);
    if (!claim) return accept(event);
    return claim.workspaceId === event.data.workspaceId
      ? ignore('AlreadyClaimed')
      : reject('ClaimedByOther', claim);
  },
  evolve: (line, event) =>
    event.type === 'OrderLineClaimed' ? { ...line, claim: event.data } : { ...line, hasEarlier: true },
};
