import type { ServerResponse } from 'node:http';
import { Problem } from './problem.js';

/** Aborts when the caller disconnects before it has its answer. The reason is what nobody then receives. */
export const departureOf = (response: ServerResponse): AbortSignal => {
  const departed = new AbortController();
  const leave = (): void =>
    departed.abort(new Problem('enqueue_unavailable', { detail: 'The caller has gone', isLogged: true }));
  if (response.destroyed) leave();
  response.once('close', () => {
    if (!response.writableFinished) leave();
  });
  return departed.signal;
};
