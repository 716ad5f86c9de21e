import type { Projection } from '#event-sourcing/projections/projection.js';
import { publicationProjection } from './read-models/publication/publication.projection.js';

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const publishingProjections: readonly Projection[] = [publicationProjection];
