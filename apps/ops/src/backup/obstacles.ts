import { OpsError } from '../ops-error.js';

/** The message with which a check refuses; none when it passes. */
export const refusalOf = (check: () => void): readonly string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof OpsError) return [error.message];
    throw error;
  }
};

/** @throws OpsError with the first obstacle */
export const requireNone = ([first]: readonly string[]): void => {
  if (first !== undefined) throw new OpsError(first);
};
