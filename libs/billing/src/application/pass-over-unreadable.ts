import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';

/** Work on many books catches with it: a book that cannot be read waits for an operator, the others do not wait. */
export const passOverUnreadable = (error: unknown): void => {
  if (!(error instanceof CorruptEvent)) throw error;
};
