import type { Request } from 'express';

/** The pattern that served a request, such as `/api/v1/readings/:readingId`: never a path, which bears ids. */
export const routeOf = (request: Request): string =>
  (request.route as { path?: string } | undefined)?.path ?? 'unmatched';
