import type { NextFunction, Request, Response } from 'express';
import type { Clock } from '#event-sourcing/core/clock.js';
import { identifiedAs } from '../auth/authentication.js';
import { GONE_AWAY, LOWEST_REFUSAL, finalStatus, patternOf } from '../http/outcome.js';
import { isGuarded } from '../http/admission.js';
import { requestIdOf } from '../http/request-id.js';
import { addressKey, fullClientAddress } from '../rate-limit/address.js';
import { wasCounted } from '../rate-limit/rate-limit.guard.js';
import { printable } from '../text/printable.js';
import { isUuid } from '../text/uuid.js';
import type { AuditedResource } from '../manifest.js';
import type { AuditRecord } from './audit-records.js';
import type { AuditTrail } from './audit-trail.js';
import { aboutOf, givesPersonalData } from './personal-data.js';

const MAX_ACTOR = 256;

/**
 * Records every request with a known caller and every refused request, once its connection has finished with it. That
 * includes requests that their callers abandoned, except for public pages. Keeps nothing of query, body and path except
 * the id of the audited resource.
 *
 * A request gets its own record when it took a token of the rate limit or returned personal data. Tallies bound all
 * others, including requests that passed because the limit was unavailable.
 * @param audited the resource whose id a record contains
 */
export const auditRequests =
  (trail: Pick<AuditTrail, 'admitted' | 'refused'>, clock: Clock, audited: AuditedResource) =>
  (request: Request, response: Response, next: NextFunction): void => {
    // A closed connection no longer has an address.
    const address = fullClientAddress(request);
    response.once('close', () => {
      const status = finalStatus(response);
      const isDecided = status !== GONE_AWAY;
      const caller = identifiedAs(request);
      if (!caller && (status < LOWEST_REFUSAL || (!isDecided && !isGuarded(request.path)))) return;
      const record: AuditRecord = {
        at: clock.now(),
        requestId: requestIdOf(request).replace(/^req_/, ''),
        requests: 1,
        method: request.method,
        route: patternOf(request),
        status,
        workspaceId: caller?.workspaceId ?? null,
        // Strangers choose the text of a subject.
        actor: caller ? printable(caller.actor).slice(0, MAX_ACTOR) : null,
        address: caller ? address : address && addressKey(address),
        readingId: auditedId(audited, request, response),
        personal: status === 200 && givesPersonalData(request),
      };
      if (wasCounted(request) || record.personal) trail.admitted(record);
      else trail.refused(record);
    });
    next();
  };

/** The id of the resource that the route names or has just created. */
const auditedId = (
  { parameter, path }: AuditedResource,
  request: Request,
  response: Response,
): string | null => {
  const given: unknown = aboutOf(request) ?? (request.params ?? {})[parameter];
  const location = String(response.getHeader('location') ?? '');
  const created = location.startsWith(`${path}/`) ? location.slice(path.length + 1) : null;
  const named = typeof given === 'string' ? given : created;
  const id = named?.toLowerCase() ?? null;
  return id !== null && isUuid(id) ? id : null;
};
