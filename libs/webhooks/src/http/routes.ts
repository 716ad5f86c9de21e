import {
  applyDecorators,
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
  Controller,
  UseGuards,
} from '@nestjs/common';
import { ApiQuery, ApiTags } from '@nestjs/swagger';
import { type FieldError, Problem, invalidRequest } from '#platform/http/problem.js';
import { NOTICE_TYPES, PUBLIC_EVENT_TYPES, type WebhookRefusal } from '../contracts/index.js';
import { z } from 'zod';
import { modeOf } from '#platform/auth/livemode.js';
import { type Principal, principalOf, Accepts } from '#platform/auth/authentication.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { parseInstant } from '#platform/http/instant.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { isUuid } from '#platform/text/uuid.js';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Names } from '#platform/http/openapi/operation.js';
import { Endpoints } from '../application/endpoints.js';
import { refusalTo } from '../domain/webhook-endpoint.decider.js';

export const ENDPOINT_ID = 'we_0b9a1c52-6f0e-4d7b-9a35-3f1f6a2f0c88';
export const DELIVERY_ID = '5e2f8f5c-8c4e-4c57-8d63-6a0a4f8f4f10';
export const REPLAY_ID = '2b7d9a40-1a6b-4c1f-8f0e-9d3c5b7a1e62';
export const READING_ID = '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41';
export const AT = '2026-04-04T09:30:00.000Z';

const NAMED_ENDPOINT = { description: 'The `endpointId` of the endpoint', example: ENDPOINT_ID };
const NAMED_DELIVERY = { description: 'The `deliveryId` of the delivery', example: DELIVERY_ID };
const NAMED_EVENT = {
  description: 'The `id` of the event',
  example: 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60',
};
const NAMED_REPLAY = { description: 'The `replayId` of the replay', example: REPLAY_ID };

export const deliveredType = () => z.enum([...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES]);

export const invalidType = (message: string) => ({ message, context: { code: 'invalid_type' } });
export const listOf = (values: readonly string[]) => ({ type: 'string', enum: [...values] });

export const fault = (pointer: string, code: string, detail: string): FieldError[] => [
  { pointer, code, detail },
];

/** Checks each of a list against a closed set. @param ifEmpty the detail when it is empty; without one, it may be */
export const listErrors = (
  name: string,
  list: readonly unknown[],
  allowed: readonly string[],
  code: string,
  ifEmpty?: string,
): FieldError[] =>
  list.length === 0 && ifEmpty !== undefined
    ? fault(`/${name}`, 'too_short', ifEmpty)
    : list.flatMap((one, index) =>
        allowed.includes(one as string)
          ? []
          : fault(`/${name}/${index}`, code, `must be one of ${allowed.join(', ')}`),
      );

/** Query parameters as Express parses them: a repeated parameter is an array. */
export type QueryValue = string | readonly string[] | undefined;

const refuse = (name: string, code: string, detail: string): never => {
  throw invalidParameter(name, detail, code);
};

/** A choice of allowed values, comma-separated or repeated, sorted like `allowed`; `null`: absent. @throws Problem with `code` */
export const readChoice = <T extends string>(
  name: string,
  value: QueryValue,
  allowed: readonly T[],
  code = 'invalid_value',
): readonly T[] | null => {
  if (value === undefined) return null;
  const chosen = new Set([value].flat().flatMap((part) => part.split(',')));
  const known = allowed.filter((one) => chosen.has(one));
  return known.length === chosen.size
    ? known
    : refuse(name, code, `must be one or more of ${allowed.join(', ')}`);
};

/** An instant, canonical; `null` when the parameter is absent. @throws Problem validation_failed */
export const readInstant = (name: string, value: QueryValue): string | null =>
  value === undefined
    ? null
    : (parseInstant(String(value)) ??
      refuse(name, 'invalid_value', 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z'));

/** `true` or `false`; false when the parameter is absent. @throws Problem validation_failed */
export const readFlag = (name: string, value: QueryValue): boolean => {
  if (value === undefined || value === 'false') return false;
  return value === 'true' ? true : refuse(name, 'invalid_value', 'must be true or false');
};

/** Describes an optional query parameter that holds an instant. */
export const InstantQuery = (name: string, description: string) =>
  ApiQuery({ name, required: false, description, schema: { type: 'string', format: 'date-time' } });

/** Describes an optional query parameter that `readChoice` reads. */
export const ChoiceQuery = (name: string, values: readonly string[], description = 'Comma-separated') => {
  const schema = { type: 'array' as const, items: { type: 'string', enum: [...values] } };
  return ApiQuery({ name, required: false, description, schema, explode: false });
};

export const LIVEMODE_SHOWN = {
  name: 'livemode',
  required: false,
  description: 'Of live or of test readings; default: both. Only for bearer tokens: a key sees its own mode',
  schema: { type: 'boolean' as const },
};

/** The modes that a list shows: those that the caller sees, or the one of them that it asks for. @throws Problem */
export const readModes = (
  livemode: QueryValue,
  { authMode, sees }: Pick<Principal, 'authMode' | 'sees'>,
): readonly Mode[] => {
  if (livemode === undefined) return sees;
  if (authMode === 'apiKey')
    return refuse('livemode', 'invalid_value', 'is for bearer tokens: a key sees its own mode');
  const mode = modeOf(readFlag('livemode', livemode));
  return sees.filter((one) => one === mode);
};

/** A UUID in lower case; `null` when the parameter is absent. @throws Problem validation_failed */
export const readUuid = (name: string, value: QueryValue): string | null => {
  if (value === undefined) return null;
  const text = String(value).toLowerCase();
  return isUuid(text) ? text : refuse(name, 'invalid_value', 'must be a UUID');
};

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
type Refusal<O extends Outcome, R = WebhookRefusal> = R extends { readonly outcome: infer Any }
  ? O extends Any
    ? R
    : never
  : never;

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
    private readonly endpoints: Endpoints,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { workspaceId, sees } = principalOf(request);
    const { record } = orProblem(
      await this.endpoints.find(String(request.params['endpointId']), workspaceId),
    );
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
