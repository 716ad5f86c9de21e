import type { ServerResponse } from 'node:http';

/** Not of HTTP: nobody receives it. */
export const GONE_AWAY = 499;
export const LOWEST_REFUSAL = 400;

/** The status of an answer, once its connection has finished with it; 499 when the caller left before there was one. */
export const finalStatus = ({ headersSent, statusCode }: ServerResponse): number =>
  headersSent ? statusCode : GONE_AWAY;

const asked = new WeakSet<ServerResponse>();

/** Notes that the caller asked for this refusal (`ProblemOptions.isAsked`). */
export const setAsked = (response: ServerResponse): void => void asked.add(response);

export const isAsked = (response: ServerResponse): boolean => asked.has(response);
