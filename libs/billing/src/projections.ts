import type { Projection } from '#event-sourcing/projections/projection.js';
import { balanceProjection } from './read-models/balance/balance.projection.js';
import { holdProjection } from './read-models/hold/hold.projection.js';

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const billingProjections: readonly Projection[] = [balanceProjection, holdProjection];
