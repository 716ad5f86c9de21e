import {
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
  applyDecorators,
  Controller,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ApiTags } from '@nestjs/swagger';
import { Problem, invalidRequest } from '#platform/http/problem.js';
import { principalOf, Accepts } from '#platform/auth/authentication.js';
import { Names } from '#platform/http/openapi/operation.js';
import type { WebhookRefusal } from '../contracts/refusals.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { refusalTo } from '../domain/webhook-endpoint.decider.js';
import { NAMED_DELIVERY, NAMED_ENDPOINT, NAMED_EVENT, NAMED_REPLAY } from './webhook.schemas.js';

/** An endpoint's entity tag: its revision. */
export const etagOf = (revision: bigint): string => `"${revision}"`;

/** Revisions an If-Match (RFC 9110, 13.1.1) allows; `null`: any. Ignores weak and unknown tags, and the coding that Apache adds. */
export const readIfMatch = (header: string | undefined): readonly bigint[] | null => {
  if (header === undefined || header.trim() === '*') return null;
  return header
    .split(',')
    .map((tag) => /^"(\d{1,19})(?:-gzip|-br)?"$/.exec(tag.trim())?.[1])
    .filter((revision) => revision !== undefined)
    .map(BigInt);
};

const RETRY_AFTER = { 'Retry-After': '5' };

type Outcome = WebhookRefusal['outcome'];
type Refusal<O extends Outcome> = Extract<WebhookRefusal, { readonly outcome: O }>;

const aboutTheUrl = ({ outcome: code, detail }: Refusal<'invalid_webhook_url'>): Problem =>
  invalidRequest([{ pointer: '/url', code, detail }]);

const aboutHeaders = (code: string, detail: string): Problem =>
  invalidRequest([{ pointer: '/headers', code, detail }]);
const tooEarly = (pointer: string, keptSince: string) => ({
  pointer,
  code: 'no_longer_kept',
  detail: `asks for what is deleted: ${keptSince} is the earliest`,
});

const PROBLEMS: { readonly [O in Outcome]: (refusal: Refusal<O>) => Problem } = {
  webhook_not_found: () => new Problem('webhook_not_found'),
  wrong_workspace: () => new Problem('wrong_workspace'),
  mode_not_allowed: () =>
    new Problem('auth_mode_not_allowed', {
      detail: 'The endpoint also receives live events: change it with a live key',
    }),
  delivery_not_found: () => new Problem('delivery_not_found'),
  no_longer_kept: ({ keptSince, field }) =>
    new Problem('no_longer_kept', {
      detail: `What happened before ${keptSince} may be deleted`,
      members: { keptSince },
      ...(field !== null && { errors: [tooEarly(field, keptSince)] }),
    }),
  replay_not_found: () => new Problem('not_found', { detail: 'The endpoint has no such replay' }),
  invalid_webhook_url: aboutTheUrl,
  webhook_url_blocked: aboutTheUrl,
  different_request: () => new Problem('idempotency_key_reused'),
  endpoint_changed: () =>
    new Problem('precondition_failed', { detail: 'The endpoint has changed since it was read' }),
  headers_required: () =>
    aboutHeaders(
      'required',
      'must each be sent again, or null to remove them: the URL leads to another scheme, host or port',
    ),
  too_many_headers: ({ limit }) =>
    aboutHeaders('too_many', `must be at most ${limit} headers after the change`),
  endpoint_disabled: () =>
    new Problem('precondition_failed', { detail: 'The endpoint is disabled: enable it first' }),
  endpoint_limit_reached: ({ limit }) =>
    new Problem('endpoint_limit_reached', { detail: `A workspace has at most ${limit} webhook endpoints` }),
  too_many_test_events: ({ limit }) =>
    new Problem('rate_limited', {
      detail: `${limit} trials wait to be sent to this endpoint: its health shows the next attempt`,
      headers: RETRY_AFTER,
    }),
  not_ready: () =>
    new Problem('enqueue_unavailable', {
      detail: 'The test reading of this trial is still being made',
      headers: RETRY_AFTER,
    }),
  billing_misconfigured: () => new Problem('billing_misconfigured', { headers: { 'Retry-After': '60' } }),
  insufficient_credits: ({ required, available }) =>
    new Problem('insufficient_credits', {
      detail: `The test reading of this trial costs ${required} test credits; ${available} are available`,
      members: { required, available },
    }),
  replay_in_progress: ({ endpointId, replayId }) =>
    new Problem('replay_in_progress', {
      detail: `See or stop it at /api/v1/webhooks/${endpointId}/replays/${replayId}`,
      members: { replayId },
      headers: RETRY_AFTER,
    }),
};

export const problemOf = (refusal: WebhookRefusal): Problem =>
  (PROBLEMS[refusal.outcome] as (one: WebhookRefusal) => Problem)(refusal);

/** Returns the result of a use case. @throws Problem for a refusal */
export const orProblem = <Result extends { readonly outcome: string }>(
  result: Result,
): Exclude<Result, { readonly outcome: Outcome }> => {
  if (isRefusal(result)) throw problemOf(result);
  return result as Exclude<Result, { readonly outcome: Outcome }>;
};

const isRefusal = (result: { readonly outcome: string }): result is WebhookRefusal =>
  Object.hasOwn(PROBLEMS, result.outcome);

const CHANGES_ENDPOINT = 'webhooks:changes-endpoint';

/** Declares that a route changes the endpoint itself, or gives a new secret of it. */
export const ChangesEndpoint = () => SetMetadata(CHANGES_ENDPOINT, true);

/**
 * Checks before the body that the endpoint is the caller's own. A test key cannot change one that live receivers depend on.
 * Its row may lag: each command is judged again, by the endpoint's stream.
 */
@Injectable()
class OwnEndpointGuard implements CanActivate {
  constructor(
    private readonly access: EndpointAccess,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { workspaceId, sees } = principalOf(request);
    const { record } = orProblem(await this.access.find(String(request.params['endpointId']), workspaceId));
    const refusal = refusalTo(sees, record);
    if (refusal === 'EndpointNotFound') throw problemOf({ outcome: 'webhook_not_found' });
    const changes = this.reflector.get<boolean | undefined>(CHANGES_ENDPOINT, context.getHandler());
    if (changes && refusal) throw problemOf({ outcome: 'mode_not_allowed' });
    return true;
  }
}

const routes = (path: string) => applyDecorators(Controller(path), ApiTags('Webhooks'));

/** Routes of the webhook endpoints of a workspace. */
export const WebhookRoutes = () => routes('api/v1/webhooks');

/** Routes of one webhook endpoint, the parameter `endpointId`. */
export const EndpointRoutes = () =>
  applyDecorators(
    routes('api/v1/webhooks/:endpointId'),
    Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT),
    UseGuards(OwnEndpointGuard),
  );

/** Declares that a route shows endpoints or their deliveries. */
export const ReadsWebhooks = () => Accepts({ apiKey: 'webhooks:read', bearer: 'webhooks:read' });
/** Declares that a route changes endpoints, or sends something to them. */
export const WritesWebhooks = () => Accepts({ apiKey: 'webhooks:write', bearer: 'webhooks:write' });

/** For a route of one delivery, the parameter `deliveryId`. */
export const NamesDelivery = () => Names('deliveryId', 'delivery_not_found', NAMED_DELIVERY);
/** For a route of one event, the parameter `eventId`. */
export const NamesEvent = () => Names('eventId', 'not_found', NAMED_EVENT);
/** For a route of one replay, the parameter `replayId`. */
export const NamesReplay = () => Names('replayId', 'not_found', NAMED_REPLAY);
