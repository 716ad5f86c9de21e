import { billingProjections } from '#billing/projections.js';
import type { Projection } from '#event-sourcing/projections/projection.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { publishingProjections } from '#publishing/projections.js';
import { readingsProjections } from '#readings/projections.js';
import { webhooksProjections } from '#webhooks/projections.js';
import { workspacesProjections } from '#workspaces/projections.js';

/** Every projection of the service. */
export const PROJECTIONS: readonly Projection[] = [
  ...workspacesProjections,
  ...readingsProjections(documentPublisher.feed),
  ...publishingProjections,
  ...billingProjections,
  ...webhooksProjections,
];
