import { billing } from '#billing/manifest.js';
import { operationalTables } from '#platform/postgres/schemas.js';
import { publishing } from '#publishing/manifest.js';
import { readings } from '#readings/manifest.js';
import { webhooks } from '#webhooks/manifest.js';
import { workspaces } from '#workspaces/manifest.js';

/** The modules of the service, in migration order. */
export const MODULES = [workspaces, readings, publishing, billing, webhooks] as const;

/** The tables that only PostgreSQL holds: no event can rebuild them, so every backup needs them. */
export const OPERATIONAL_TABLES = operationalTables(MODULES);

/** Every kind of job, by its name in the queue. */
export const JOBS: readonly string[] = MODULES.flatMap(({ jobs }) => Object.keys(jobs));

/** The resource whose id audit records contain. */
export const AUDITED = readings.audited;
