import { billing } from '@app/billing/manifest.js';
import { operationalTables } from '@app/platform/postgres/operational-tables.js';
import { publishing } from '@app/publishing/manifest.js';
import { readings } from '@app/readings/manifest.js';
import { webhooks } from '@app/webhooks/manifest.js';
import { workspaces } from '@app/workspaces/manifest.js';

/** The modules of the service, in the order of their migrations. */
export const MODULES = [workspaces, readings, publishing, billing, webhooks] as const;

/** What PostgreSQL alone knows, by table: no event can rebuild it, so every backup needs it. */
export const OPERATIONAL_TABLES = operationalTables(MODULES);

/** The resource whose id audit records hold. */
export const AUDITED = readings.audited;

/** What a bearer token may open. */
export const SCOPE_AREAS: readonly string[] = MODULES.flatMap(({ scopeAreas }) => [...scopeAreas]);
/** Every scope that a token may carry. */
export const SCOPES: readonly string[] = SCOPE_AREAS.flatMap((area) => [`${area}:read`, `${area}:write`]);
