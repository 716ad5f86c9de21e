import { billingProjections } from '@app/billing/projections.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { documentPublisher } from '@app/publishing/contracts/index.js';
import { publishingProjections } from '@app/publishing/projections.js';
import { readingsProjections } from '@app/readings/projections.js';
import { webhooksProjections } from '@app/webhooks/projections.js';
import { workspacesProjections } from '@app/workspaces/projections.js';

/** Every projection of the service. */
export const PROJECTIONS: readonly Projection[] = [
  ...workspacesProjections,
  ...readingsProjections(documentPublisher.feed),
  ...publishingProjections,
  ...billingProjections,
  ...webhooksProjections,
];
