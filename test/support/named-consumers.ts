import { MODULES } from '../../apps/service/src/modules.js';
import { PROJECTIONS } from '../../apps/service/src/projections.js';

/** The consumers that the manifests name, as every worker runs them: rows that another consumer updates have none. */
export const namedConsumers: readonly string[] = MODULES.flatMap(({ projections, processes }) => [
  ...Object.keys(projections),
  ...Object.keys(processes),
]).filter((name) => PROJECTIONS.find((projection) => projection.name === name)?.keptBy === undefined);
