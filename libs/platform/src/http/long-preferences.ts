import type { NextFunction, Request, Response } from 'express';

/** Headers of content negotiation. Each entry is ranked for each type or language that an answer may have. */
const PREFERENCES = ['accept', 'accept-language'] as const;
/** Browsers send some 150 characters. 16 KiB, as long as headers may be, take tens of milliseconds. */
const LONGEST = 1_024;

/** Disregards longer preferences, as RFC 9110, 12.5 allows: the answer is what it would be without them. */
export const dropLongPreferences = ({ headers }: Request, _response: Response, next: NextFunction): void => {
  for (const name of PREFERENCES) if ((headers[name]?.length ?? 0) > LONGEST) delete headers[name];
  next();
};
