import type { Projection } from '#event-sourcing/projections/projection.js';
import { contentProjection } from './read-models/content/content.projection.js';
import { endpointProjection } from './read-models/endpoint/endpoint.projection.js';

/** For the operator, who may rebuild them, and the worker. The fan-out keeps that of endpoints. Loads no framework. */
export const webhooksProjections: readonly Projection[] = [endpointProjection, contentProjection];
