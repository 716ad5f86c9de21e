import { accept, ignore, type Decision } from '@app/event-sourcing/core/decision.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import type { WebhookContentEvent } from '../../contracts/events.js';

export interface WebhookContent {
  /** Whether bodies show the external ids of readings. */
  readonly externalId: boolean;
}

export interface ChooseContent extends WebhookContent {
  readonly type: 'ChooseContent';
}

const decide = ({ externalId }: ChooseContent, state: WebhookContent): Decision<WebhookContentEvent, never> =>
  externalId === state.externalId
    ? ignore('Unchanged')
    : accept({ type: 'WebhookContentChosen', data: { externalId } });

export const webhookContentDecider: Decider<ChooseContent, WebhookContentEvent, WebhookContent, never> = {
  initialState: { externalId: true },
  decide,
  evolve: (_, { data: { externalId } }) => ({ externalId }),
};
