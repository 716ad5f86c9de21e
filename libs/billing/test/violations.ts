import type { CreditsEvent } from '../src/contracts/events.js';
import { InvariantWatch } from '../src/domain/invariants.js';

/** One sentence for each invariant that a history breaks, with the index of its event. */
export const violations = (history: readonly CreditsEvent[]): string[] => {
  const watch = new InvariantWatch();
  return history.flatMap((event, index) =>
    watch.see(event).map((breach) => `${index} ${event.type}: ${breach}`),
  );
};
