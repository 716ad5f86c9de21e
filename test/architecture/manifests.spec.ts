import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { systemClock } from '#event-sourcing/core/clock.js';
import { BillingWorkerModule } from '#billing/billing-worker.module.js';
import { loadConfig } from '#platform/config/load-config.js';
import { projectPath } from '#platform/project-path.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { PublishingWorkerModule } from '#publishing/publishing-worker.module.js';
import { ReadingsWorkerModule } from '#readings/readings-worker.module.js';
import { WebhooksWorkerModule } from '#webhooks/webhooks.module.js';
import { WorkspacesWorkerModule } from '#workspaces/workspaces.module.js';
import { JOBS, MODULES } from '../../apps/service/src/modules.js';
import { PROJECTIONS } from '../../apps/service/src/projections.js';
import { settings } from '../../apps/service/src/settings.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const config = loadConfig(settings, {
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  ENCRYPTION_KEYS: `k1:${KEY}`,
  DIGEST_KEY: KEY,
});

/** As every worker runs them: rows that another consumer updates have none. */
const namedConsumers = MODULES.flatMap(({ projections, processes }) => [
  ...Object.keys(projections),
  ...Object.keys(processes),
]).filter((name) => PROJECTIONS.find((projection) => projection.name === name)?.keptBy === undefined);

/** Registering needs none of these: they are used when the work runs. */
const later = null as never;

/** The work that the modules of a worker register. */
const registered = (): WorkRegistry => {
  const work = new WorkRegistry();
  new WorkspacesWorkerModule(work).onModuleInit();
  new BillingWorkerModule(work, later, later, later, later, later, later, config, later).onModuleInit();
  new ReadingsWorkerModule(
    work,
    later,
    later,
    later,
    later,
    later,
    documentPublisher,
    config,
    later,
    later,
  ).onModuleInit();
  new PublishingWorkerModule(work, later, later, later, later, later).onModuleInit();
  new WebhooksWorkerModule(
    work,
    later,
    later,
    later,
    later,
    later,
    later,
    later,
    config,
    systemClock,
    later,
    later,
  ).onModuleInit();
  return work;
};

describe('the manifests', () => {
  it('name every consumer and job that the modules register, and no other', () => {
    const { consumers, jobs } = registered();
    expect(consumers.map(({ name }) => name).toSorted()).toEqual(namedConsumers.toSorted());
    expect(jobs.map(({ task }) => task).toSorted()).toEqual(JOBS.toSorted());
  });

  it('name every projection, and no other', () => {
    const named = MODULES.flatMap(({ projections }) => Object.keys(projections));
    expect(named.toSorted()).toEqual(PROJECTIONS.map(({ name }) => name).toSorted());
  });

  it('name each consumer and job once', () => {
    const names = MODULES.flatMap(({ projections, processes, jobs }) => [
      ...Object.keys(projections),
      ...Object.keys(processes),
      ...Object.keys(jobs),
    ]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are what docs/architecture.md lists', () => {
    const page = readFileSync(projectPath('docs/architecture.md'), 'utf8');
    const section = page.slice(page.indexOf('### Consumers and jobs'), page.indexOf('### Enforcement'));
    const listed = section.split('\n').filter((line) => line.startsWith('| `'));
    const rows = (kind: string, named: Readonly<Record<string, string>>): readonly string[] =>
      Object.entries(named).map(([name, does]) => `| \`${name}\` | ${kind} | ${does} |`);
    expect(listed).toEqual(
      MODULES.flatMap(({ projections, processes, jobs }) => [
        ...rows('projection', projections),
        ...rows('process', processes),
        ...rows('job', jobs),
      ]),
    );
  });
});
