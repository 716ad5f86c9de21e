import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { drawBytes } from '#platform/crypto/draw.js';
import { RANDOM_BYTES, makeApiKey, type NewApiKey } from '../domain/api-key/api-key.js';

/** A new key, the same for a repeat of the same request: only its hash is stored, so nobody could read it back. */
export const drawApiKey = (by: Pick<RequestContext, 'seed'>): NewApiKey =>
  makeApiKey({
    id: drawBytes(by, 'api-key-id', RANDOM_BYTES),
    secret: drawBytes(by, 'api-key-secret', RANDOM_BYTES),
  });
