import type { UnreadableEntry } from '#billing/contracts/index.js';

/** What a report says of an event that it passes over by an operator's decision. */
export const passedOver = ({ stream, revision, type, setAside }: UnreadableEntry): string =>
  `Set aside: ${stream}@${revision} (${type}), by ${setAside?.by}: ${setAside?.reason}`;
