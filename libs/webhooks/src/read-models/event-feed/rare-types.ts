import type { DeliveredType } from '../../contracts/notice-types.js';

/** Nearly all events are of these types. Of the others, a large workspace may have few among millions. */
const COMMON: readonly DeliveredType[] = ['reading.completed', 'reading.published'];

/**
 * SQL: a condition for events of the other types. A literal, since the planner matches the partial index
 * `webhooks.public_event_rare` by the text of a query.
 */
export const IS_RARE = `type not in (${COMMON.map((type) => `'${type}'`).join(', ')})`;

/** Whether a list of only these types is found by that index. `null`: all types */
export const areRare = (types: readonly DeliveredType[] | null): boolean =>
  types !== null && !types.some((type) => COMMON.includes(type));
