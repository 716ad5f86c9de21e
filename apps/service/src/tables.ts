import type { Pool } from 'pg';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { emptiedTables, missingTables } from '#event-sourcing/projections/lost-tables.js';
import { expendableTables } from '#platform/postgres/operational-tables.js';
import { JOBS_SCHEMA, MIGRATIONS_SCHEMA, migratedLibraries, schemaOf } from '#platform/postgres/schemas.js';
import { MODULES, OPERATIONAL_TABLES } from './modules.js';
import { PROJECTIONS } from './projections.js';

/** The tables of projections: the log determines their rows. */
export const READ_MODELS: readonly string[] = PROJECTIONS.flatMap(({ views }) =>
  views.map(({ table }) => table),
);

/** The tables of the job queue that the service needs. */
export const JOB_TABLES: readonly string[] = ['jobs', 'job_queues', 'tasks'].map(
  (name) => `${JOBS_SCHEMA}._private_${name}`,
);

/** Tables that may be made anew without rows after a loss, with what is lost then. */
export const EXPENDABLE_TABLES: Readonly<Record<string, string>> = {
  ...expendableTables(MODULES),
  ...Object.fromEntries(
    JOB_TABLES.map((table) => [
      table,
      'waiting jobs. Restart the workers: they add those of unfinished readings, their time-outs, publications and replays again; a reading is not marked as delayed',
    ]),
  ),
};

/** Every table that this program needs. */
const NEEDED: readonly string[] = [
  ...READ_MODELS,
  ...Object.keys(OPERATIONAL_TABLES),
  ...JOB_TABLES,
  ...migratedLibraries(MODULES).map((library) => `${MIGRATIONS_SCHEMA}.${schemaOf(library)}`),
];

export interface MissingTables {
  /** `ops projections restore` makes and fills them. */
  readonly readModels: readonly string[];
  /** They may be made without rows: {@link EXPENDABLE_TABLES}. */
  readonly expendable: readonly string[];
  /** Only a backup has their rows. */
  readonly irreplaceable: readonly string[];
}

/** The tables that were dropped. One query of the catalogue. */
export const findMissingTables = async (pool: Pick<Pool, 'query'>): Promise<MissingTables> => {
  const missing = await missingTables(pool, NEEDED);
  const readModels = missing.filter((table) => READ_MODELS.includes(table));
  const expendable = missing.filter((table) => table in EXPENDABLE_TABLES);
  const irreplaceable = missing.filter((table) => !readModels.includes(table) && !expendable.includes(table));
  return { readModels, expendable, irreplaceable };
};

/** Without their rows, every API key gets 401. */
const KEY_TABLES = ['workspaces.api_key'];

/**
 * Why this process cannot serve: tables that it cannot do without are gone, or the table of API keys is empty although
 * keys were issued. Empty: nothing is lost.
 */
export const tablesThatStopRequests = async (pool: Pool, store: EventStore): Promise<readonly string[]> => {
  const { readModels, irreplaceable, expendable } = await findMissingTables(pool);
  const needed = [
    ...readModels,
    ...irreplaceable,
    ...expendable.filter((table) => NEEDED_BY_POST.has(table)),
  ];
  if (needed.length > 0) return needed;
  const holders = PROJECTIONS.filter(({ views }) => views.some(({ table }) => KEY_TABLES.includes(table)));
  return (await emptiedTables({ pool, store }, holders)).filter((table) => KEY_TABLES.includes(table));
};

const NEEDED_BY_POST: ReadonlySet<string> = new Set([...JOB_TABLES, 'platform.idempotent_request']);
