import type { Mode } from '#event-sourcing/core/mode.js';
import type { DeliveredType } from '../../contracts/notice-types.js';

/**
 * SQL: the union of a query for each type and mode of a feed. An index has the rows of each in order, so a page reads as many
 * of each as it shows, and none that it does not ask for. The values stand in the text: of parameters the planner knows
 * less, and may walk through the feed instead.
 * @param types of a closed set, at least one
 * @param query gets the condition of a type and a mode
 */
export const unionOfEach = (
  types: readonly DeliveredType[],
  modes: readonly Mode[],
  query: (condition: string) => string,
): string =>
  [...new Set(types)]
    .flatMap((type) =>
      modes.map((mode) => `(${query(`${mode === 'live' ? '' : 'not '}livemode and type = '${type}'`)})`),
    )
    .join(' union all ');
