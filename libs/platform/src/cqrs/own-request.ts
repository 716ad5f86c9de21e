import { randomUUID } from 'node:crypto';
import type { Mode } from '@app/event-sourcing/core/mode.js';
import { requestedBy, type RequestContext } from '@app/event-sourcing/core/request-context.js';

/** The context of a request without an id: an operator's, or one whose events have always had their own id. */
export const ownRequest = (actor: string, mode?: Mode): RequestContext =>
  requestedBy(actor, randomUUID(), mode);
