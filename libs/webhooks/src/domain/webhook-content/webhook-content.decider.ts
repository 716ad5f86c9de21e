import { accept, ignore, type Decision } from '@app/event-sourcing/core/decision.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import { LOW_CREDITS_PERCENT, type WebhookContentEvent } from '../../contracts/events.js';

export interface WebhookContent {
  /** Whether bodies show the external ids of readings. */
  readonly externalId: boolean;
  /** `credits.low` is told below this share of the credits that were there after the last grant; 0: never. */
  readonly lowCreditsPercent: number;
}

/** An omitted choice stays as it is. */
export interface ChooseContent extends Partial<WebhookContent> {
  readonly type: 'ChooseContent';
}

const decide = (
  { externalId, lowCreditsPercent }: ChooseContent,
  state: WebhookContent,
): Decision<WebhookContentEvent, never> => {
  const data = {
    externalId: externalId ?? state.externalId,
    lowCreditsPercent: lowCreditsPercent ?? state.lowCreditsPercent,
  };
  return data.externalId === state.externalId && data.lowCreditsPercent === state.lowCreditsPercent
    ? ignore('Unchanged')
    : accept({ type: 'WebhookContentChosen', data });
};

export const webhookContentDecider: Decider<ChooseContent, WebhookContentEvent, WebhookContent, never> = {
  initialState: { externalId: true, lowCreditsPercent: LOW_CREDITS_PERCENT },
  decide,
  evolve: (_, { data: { externalId, lowCreditsPercent } }) => ({ externalId, lowCreditsPercent }),
};
