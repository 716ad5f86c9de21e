import type { Projection } from '#event-sourcing/projections/projection.js';
import { PROJECTIONS } from '../../service/src/projections.js';
import { OpsError } from './ops-error.js';

export { PROJECTIONS };

/** @throws OpsError when there is no projection of this name */
export const requireProjection = (name: string): Projection => {
  const found = PROJECTIONS.find((projection) => projection.name === name);
  if (!found) {
    const known = PROJECTIONS.map((projection) => projection.name).join(', ');
    throw new OpsError(`There is no projection ${name}. Known projections: ${known}.`);
  }
  return found;
};
