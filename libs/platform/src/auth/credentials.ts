import type { Request } from 'express';
import { fullClientAddress } from '../rate-limit/address.js';
import type { Authenticator, Principal, RefusedKey } from './authentication.js';

/**
 * Verifies the credentials of a request. When both headers are present, only the API key counts.
 * @param proxies number of reverse proxies in front, whose X-Forwarded-For is trusted
 * @returns `null` for none, and for wrong ones
 * @throws Problem (503) when they cannot be verified now
 */
export const verifyCredentials = async (
  authenticator: Authenticator,
  request: Request,
  proxies: number,
): Promise<Principal | RefusedKey | null> => {
  const { headers } = request;
  const apiKey = headers['x-api-key'];
  if (apiKey !== undefined) {
    if (typeof apiKey !== 'string') return null;
    return authenticator.verifyApiKey(apiKey, fullClientAddress(request, proxies));
  }
  const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(headers.authorization ?? '') ?? [];
  return token === undefined ? null : authenticator.verifyBearer(token);
};
