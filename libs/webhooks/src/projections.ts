import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { endpointProjection } from './read-models/endpoint/endpoint.projection.js';

/** For the operator, who may rebuild them; the fan-out keeps them. Loads no framework. */
export const webhooksProjections: readonly Projection[] = [endpointProjection];
