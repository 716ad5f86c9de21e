import type { ModuleManifest } from '#platform/manifest.js';
import type { WorkRegistry } from '#platform/work/work-registry.js';
import { PROJECTIONS } from '../../service/src/projections.js';

type Registered = Pick<WorkRegistry, 'consumers' | 'jobs'>;

/** Projections whose rows another consumer updates run in that consumer. */
const keptByOthers = new Set(
  PROJECTIONS.filter(({ keptBy }) => keptBy !== undefined).map(({ name }) => name),
);

/** The consumers that the manifests name, as every worker runs them. */
export const namedConsumers = (modules: readonly ModuleManifest[]): readonly string[] =>
  modules
    .flatMap(({ projections, processes }) => [...Object.keys(projections), ...Object.keys(processes)])
    .filter((name) => !keptByOthers.has(name));

/** What modules registered without naming it in their manifests, and the reverse; empty: they agree. */
export const mismatches = (work: Registered, modules: readonly ModuleManifest[]): readonly string[] => {
  const jobs = modules.flatMap((module) => Object.keys(module.jobs));
  return [
    ...differences(
      'consumer',
      work.consumers.map(({ name }) => name),
      namedConsumers(modules),
    ),
    ...differences(
      'job',
      work.jobs.map(({ task }) => task),
      jobs,
    ),
  ];
};

const differences = (
  kind: string,
  registered: readonly string[],
  named: readonly string[],
): readonly string[] => [
  ...registered
    .filter((name) => !named.includes(name))
    .map((name) => `no manifest names the ${kind} ${name}`),
  ...named
    .filter((name) => !registered.includes(name))
    .map((name) => `no module registers the ${kind} ${name}`),
];

/** @throws Error when a worker would run work that no manifest names, or would leave named work undone */
export const requireNamedWork = (work: Registered, modules: readonly ModuleManifest[]): void => {
  const found = mismatches(work, modules);
  if (found.length > 0) throw new Error(`The manifests do not match the worker: ${found.join('; ')}`);
};
