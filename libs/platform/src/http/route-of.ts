import type { Request } from 'express';

/** The route pattern of a request, such as `/api/v1/readings/:readingId`; never a path, which contains ids. */
export const routeOf = (request: Request): string =>
  (request.route as { path?: string } | undefined)?.path ?? 'unmatched';
