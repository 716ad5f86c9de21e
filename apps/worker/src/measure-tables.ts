import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';
import { findMissingTables } from '../../service/src/tables.js';

/** How many of the service's tables do not exist. */
export const measureTables = (pool: Pool, registry: Registry): void => {
  const gauges = { tables_missing: { help: 'Tables of the service that do not exist' } };
  scrapedGauges(registry, 'tables', gauges, async () => {
    const { readModels, expendable, irreplaceable } = await findMissingTables(pool);
    return { tables_missing: [{ value: readModels.length + expendable.length + irreplaceable.length }] };
  });
};
