import type { Projection } from '#event-sourcing/projections/projection.js';
import type { PublicationFeed } from './contracts/ports/index.js';
import { batchProjection } from './read-models/batch/batch.projection.js';
import { readingProjection } from './read-models/reading/reading.projection.js';

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const readingsProjections = (feed: PublicationFeed): readonly Projection[] => [
  readingProjection(feed),
  batchProjection,
];
