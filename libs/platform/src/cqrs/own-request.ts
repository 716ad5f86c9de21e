import { randomUUID } from 'node:crypto';
import { requestedBy, type RequestContext } from '@app/event-sourcing/core/request-context.js';

/** The context of a request without an id: an operator's, or one whose events have always had their own id. */
export const ownRequest = (actor: string): RequestContext => requestedBy(actor, randomUUID());
