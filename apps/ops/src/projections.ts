import { BillingModule } from '@app/billing/billing.module.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { documentPublisher } from '@app/publishing/contracts/index.js';
import { PublishingModule } from '@app/publishing/publishing.module.js';
import { ReadingsModule } from '@app/readings/readings.module.js';
import { WebhooksModule } from '@app/webhooks/webhooks.module.js';
import { WorkspacesModule } from '@app/workspaces/workspaces.module.js';
import { OpsError } from './ops-error.js';

/** Every projection of the service. */
export const PROJECTIONS: readonly Projection[] = [
  ...WorkspacesModule.projections,
  ...ReadingsModule.projections(documentPublisher.feed),
  ...PublishingModule.projections,
  ...BillingModule.projections,
  ...WebhooksModule.projections,
];

/** @throws OpsError when there is no projection of this name */
export const requireProjection = (name: string): Projection => {
  const found = PROJECTIONS.find((projection) => projection.name === name);
  if (!found) {
    const known = PROJECTIONS.map((projection) => projection.name).join(', ');
    throw new OpsError(`There is no projection ${name}. Known projections: ${known}.`);
  }
  return found;
};
