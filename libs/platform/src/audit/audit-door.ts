import type { Clock } from '#event-sourcing/core/clock.js';
import type { RefusedAtDoor } from '../http/door/front-door.js';
import { addressKey } from '../rate-limit/address.js';
import type { AuditTrail } from './audit-trail.js';

/** Recorded instead of a route: the door refuses before routing. */
const ROUTE = 'door';
const RATE_LIMITED = 429;
const IPV6_KEY = '::/64';

/** Records requests that the front door refuses because of their address's rate. */
export const auditDoor =
  (trail: Pick<AuditTrail, 'refusedAtDoor'>, clock: Clock) =>
  ({ requestId, address, method }: RefusedAtDoor): void =>
    trail.refusedAtDoor({
      at: clock.now(),
      requestId: requestId.replace(/^req_/, ''),
      requests: 1,
      method,
      route: ROUTE,
      status: RATE_LIMITED,
      workspaceId: null,
      actor: null,
      address: address.endsWith(IPV6_KEY) ? address : addressKey(address),
      readingId: null,
      personal: false,
    });
