import { selectEvents, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';

const choices = selectEvents(workspaceEvents, 'WebhookContentChosen');

/** No row: the workspace has chosen nothing. */
interface ContentRow {
  readonly workspace_id: string;
  readonly external_id: boolean;
  readonly low_credits_percent: number;
}

const contents = view<ContentRow, Recorded<EventOf<typeof choices>>>({
  table: 'webhooks.content',
  key: ['workspace_id'],
  keyOf: ({ stream }) => ({ workspace_id: streamId(stream) }),
  evolve: (_, { stream, data }) => ({
    workspace_id: streamId(stream),
    external_id: data.externalId,
    low_credits_percent: data.lowCreditsPercent,
  }),
});

/** What the webhooks of each workspace tell. The fan-out reads it for each new event, the notices at each look. */
export const contentProjection = defineProjection({
  name: 'webhooks.content.v1',
  catalogues: [choices],
  views: [contents],
});
