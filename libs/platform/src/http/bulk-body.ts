import { SetMetadata } from '@nestjs/common';
import express, { type NextFunction, type Request, type Response } from 'express';

const LINES = 'http:lines';
/** One JSON value on each line (https://github.com/ndjson/ndjson-spec). */
export const NDJSON = 'application/x-ndjson';

/** The route also takes newline-delimited JSON. Its body is then the raw bytes, and the route parses the lines. */
export const TakesLines = () => SetMetadata(LINES, true);

export const takesLines = (handler: object): boolean => Reflect.getMetadata(LINES, handler) === true;

/** Paths whose bodies hold many requests. */
const BULK_PATHS = new Set(['/api/v1/readings/bulk']);

/** Reads bodies as bytes. A request without credentials gets no more room than any other. */
export const rawBodies = (limit: number, bulkLimit: number) => {
  const options = { type: () => true, inflate: false };
  const ordinary = express.raw({ ...options, limit });
  const bulk = express.raw({ ...options, limit: bulkLimit });
  return (request: Request, response: Response, next: NextFunction): void => {
    const isBulk = BULK_PATHS.has(request.path) && request.headers['x-api-key'] !== undefined;
    (isBulk ? bulk : ordinary)(request, response, next);
  };
};
