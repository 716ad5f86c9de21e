import { Problem, invalidRequest } from '#platform/http/problem.js';
import type { WebhookRefusal } from '../contracts/refusals.js';

const RETRY_AFTER = { 'Retry-After': '5' };

type Outcome = WebhookRefusal['outcome'];
type Refusal<O extends Outcome> = Extract<WebhookRefusal, { readonly outcome: O }>;

const aboutTheUrl = ({ outcome: code, detail }: Refusal<'invalid_webhook_url'>): Problem =>
  invalidRequest([{ pointer: '/url', code, detail }]);

/** The problem for each refusal. */
const PROBLEMS: { readonly [O in Outcome]: (refusal: Refusal<O>) => Problem } = {
  webhook_not_found: () => new Problem('webhook_not_found'),
  wrong_workspace: () => new Problem('wrong_workspace'),
  delivery_not_found: () => new Problem('delivery_not_found'),
  no_longer_kept: ({ keptSince, field }) =>
    new Problem('no_longer_kept', {
      detail: `What happened before ${keptSince} may be deleted`,
      members: { keptSince },
      ...(field !== null && {
        errors: [
          {
            pointer: field,
            code: 'no_longer_kept',
            detail: `asks for what is deleted: ${keptSince} is the earliest`,
          },
        ],
      }),
    }),
  replay_not_found: () => new Problem('not_found', { detail: 'The endpoint has no such replay' }),
  invalid_webhook_url: aboutTheUrl,
  webhook_url_blocked: aboutTheUrl,
  different_request: () => new Problem('idempotency_key_reused'),
  endpoint_changed: () =>
    new Problem('precondition_failed', { detail: 'The endpoint has changed since it was read' }),
  headers_required: () =>
    invalidRequest([
      {
        pointer: '/headers',
        code: 'required',
        detail:
          'must each be sent again, or null to remove them: the URL leads to another scheme, host or port',
      },
    ]),
  too_many_headers: ({ limit }) =>
    invalidRequest([
      { pointer: '/headers', code: 'too_many', detail: `must be at most ${limit} headers after the change` },
    ]),
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
