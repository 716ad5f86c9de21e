import { randomUUID } from 'node:crypto';
import { type Mode, requestedBy, type RequestContext } from '#event-sourcing/core/request-context.js';

/**
 * The context of a request without an id: an operator's, or one whose events have always had their own id.
 * @param seed of a request with an Idempotency-Key
 */
export const ownRequest = (actor: string, mode?: Mode, seed?: Uint8Array): RequestContext => ({
  ...requestedBy(actor, randomUUID(), mode),
  ...(seed && { seed }),
});
