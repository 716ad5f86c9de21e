import type { Request, Response } from 'express';

/**
 * Its prefix binds it to this host, to https and to every path. Browsers also keep it over http from `localhost`; Safari
 * does not.
 */
const SESSION = '__Host-portal';
/** What the last action did, for the next page. */
const DONE = '__Host-portal-done';
const DONE_SECONDS = 60;

const read = (request: Request, name: string): string | null => {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return null;
};

const write = (response: Response, name: string, value: string, seconds: number): void => {
  response.append(
    'Set-Cookie',
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`,
  );
};

export const sessionSecretOf = (request: Request): string | null => read(request, SESSION);

export const keepSession = (response: Response, secret: string, seconds: number): void =>
  write(response, SESSION, secret, seconds);

export const dropSession = (response: Response): void => write(response, SESSION, '', 0);

export const noteDone = (response: Response, what: string): void => write(response, DONE, what, DONE_SECONDS);

/** What the last action did; shown once. */
export const takeDone = (request: Request, response: Response): string | null => {
  const done = read(request, DONE);
  if (done !== null) write(response, DONE, '', 0);
  return done;
};
