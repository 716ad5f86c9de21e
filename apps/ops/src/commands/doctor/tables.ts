import { emptiedTables } from '#event-sourcing/rebuilding/lost-tables.js';
import { pendingMigrations } from '#platform/postgres/pending-migrations.js';
import { MODULES } from '../../../../service/src/modules.js';
import { PROJECTIONS } from '../../../../service/src/projections.js';
import { EXPENDABLE_TABLES, READ_MODELS, findMissingTables } from '../../../../service/src/tables.js';
import type { Session } from '../../session.js';
import { findMisshapenTables, type MisshapenTable } from '../../table-shapes/misshapen-tables.js';
import { failure, ok, type Finding } from './finding.js';

/** One finding for all tables that were dropped, truncated or changed, with the command that leads out. */
export const checkTables = async ({
  pool,
  store,
  config,
}: Session): Promise<Finding | readonly Finding[]> => {
  const check = 'tables';
  // Tables that are not made yet are a matter for the check of migrations.
  if ((await pendingMigrations(config.DATABASE_URL, MODULES)).length > 0) return [];
  const { readModels, expendable, irreplaceable } = await findMissingTables(pool);
  const missing = [...irreplaceable, ...readModels, ...expendable];
  // Without checkpoints, nothing says up to where a table should be filled.
  const emptied = irreplaceable.length > 0 ? [] : await emptiedTables({ pool, store }, PROJECTIONS);
  const misshapen = await findMisshapenTables(pool);
  if (missing.length + emptied.length + misshapen.length === 0)
    return ok(check, 'every table exists with its columns');
  const said = [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(emptied.length > 0 ? [`empty, although the log has rows for them: ${emptied.join(', ')}`] : []),
    ...(misshapen.length > 0 ? [`of another shape: ${misshapen.map(shown).join(', ')}`] : []),
  ].join('; ');
  const byHand = misshapen.filter(({ table }) => !READ_MODELS.includes(table));
  const advice =
    irreplaceable.length > 0
      ? `Only a backup has ${irreplaceable.join(', ')}: stop API and workers, then ops restore (docs/runbook.md, "Lost tables").`
      : expendable.length > 0
        ? 'ops projections restore --all --make-empty; with --dry-run it says what is lost with each table.'
        : missing.length + emptied.length + misshapen.length > byHand.length
          ? 'ops projections restore --all'
          : '';
  return {
    ...failure(check, said, [advice, ...byHand.map(wayOutByHand)].filter(Boolean).join('; then: ')),
    cause: 'table_missing',
  };
};

const shown = ({ table, lacks }: MisshapenTable): string => `${table} (${lacks.join(', ')})`;

/** The rows of an operational table are nowhere else: no command replaces it. */
const wayOutByHand = ({ table, lacks }: MisshapenTable): string =>
  table in EXPENDABLE_TABLES
    ? `drop table ${table} as the owner, then ops projections restore --all --make-empty`
    : `give ${table} its columns back as its migrations made them (${lacks.join(', ')}), or ops restore a backup`;
