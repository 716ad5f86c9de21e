import type { Recorded } from '@app/event-sourcing/core/event.js';
import { assertNever } from '@app/event-sourcing/core/decision.js';
import { WebhookRefused } from '../contracts/errors.js';
import type { WebhookEndpoint } from '../domain/webhook-endpoint/webhook-endpoint.state.js';
import type { EndpointOutcome } from './endpoint-streams.js';

/**
 * The outcome of a command, unless it was refused. A command that changes nothing has no events. @throws WebhookRefused
 */
export const requireAccepted = (
  outcome: EndpointOutcome,
): { readonly state: WebhookEndpoint; readonly events: readonly Recorded[] } => {
  if (outcome.kind !== 'rejected') {
    return { state: outcome.state, events: outcome.kind === 'accepted' ? outcome.events : [] };
  }
  switch (outcome.code) {
    case 'EndpointNotFound':
      throw new WebhookRefused('webhook_not_found');
    case 'RevisionMismatch':
      throw new WebhookRefused('precondition_failed', 'The endpoint has changed since it was read');
    default:
      return assertNever(outcome);
  }
};
