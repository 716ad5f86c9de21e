import type { Request } from 'express';
import { forwardedFor, fullClientAddress } from '../rate-limit/address.js';
import type { Authenticator, Principal, RefusedKey } from './authentication.js';

/**
 * Verifies the credentials of a request. When both headers are present, only the API key counts.
 * @param proxies number of reverse proxies in front, whose X-Forwarded-For is trusted
 * @returns `null` for none, and for wrong ones
 * @throws Problem (503) when they cannot be verified now
 */
export const verifyCredentials = async (
  authenticator: Authenticator,
  { headers, socket }: Request,
  proxies: number,
): Promise<Principal | RefusedKey | null> => {
  const apiKey = headers['x-api-key'];
  if (apiKey !== undefined) {
    if (typeof apiKey !== 'string') return null;
    const from = fullClientAddress(socket.remoteAddress ?? '', forwardedFor(headers), proxies);
    return authenticator.verifyApiKey(apiKey, from);
  }
  const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(headers.authorization ?? '') ?? [];
  return token === undefined ? null : authenticator.verifyBearer(token);
};
