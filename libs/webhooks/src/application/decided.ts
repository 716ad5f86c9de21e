import type { Recorded } from '#event-sourcing/core/event.js';
import { assertNever } from '#event-sourcing/core/decision.js';
import type { RefusedByEndpoint } from '../contracts/refusals.js';
import type { WebhookEndpoint } from '../domain/webhook-endpoint/webhook-endpoint.state.js';
import type { EndpointOutcome } from './endpoint-streams.js';

interface Decided {
  readonly outcome: 'decided';
  readonly state: WebhookEndpoint;
  /** None when the command changed nothing. */
  readonly events: readonly Recorded[];
}

/** What was decided on an endpoint's stream, or why it was refused. */
export const decided = (outcome: EndpointOutcome): Decided | RefusedByEndpoint => {
  if (outcome.kind !== 'rejected') {
    const events = outcome.kind === 'accepted' ? outcome.events : [];
    return { outcome: 'decided', state: outcome.state, events };
  }
  switch (outcome.code) {
    case 'EndpointNotFound':
      return { outcome: 'webhook_not_found' };
    case 'RevisionMismatch':
      return { outcome: 'endpoint_changed' };
    case 'HeadersRequired':
      return { outcome: 'headers_required' };
    default:
      return assertNever(outcome);
  }
};
