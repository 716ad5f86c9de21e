import type { Command } from 'commander';
import type { PoolClient } from 'pg';
import type { Projection } from '#event-sourcing/projections/projection.js';
import { transaction } from '#event-sourcing/projections/checkpoint.js';
import { emptyTables } from '#event-sourcing/projections/lost-tables.js';
import { refill } from '#event-sourcing/projections/refill.js';
import type { Workshop } from '#event-sourcing/projections/versions.js';
import { grantToApplication } from '#platform/postgres/application-rights.js';
import { migratedLibraries, schemaOf } from '#platform/postgres/schemas.js';
import {
  apart,
  dropApart,
  makeApart,
  makeJobTables,
  moveFromApart,
} from '#platform/postgres/tables-apart.js';
import { MODULES } from '../../../service/src/modules.js';
import {
  EXPENDABLE_TABLES,
  findMissingTables,
  JOB_TABLES,
  type MissingTables,
} from '../../../service/src/tables.js';
import { OpsError, print, tableOf, withRebuildProgress } from '../output.js';
import { chosenProjections, withWorkshop, type Chosen } from '../workshop.js';

interface Options extends Chosen {
  readonly dryRun?: true;
  readonly makeEmpty?: true;
}

/** What the command did with a table, or would do. */
interface Outcome {
  readonly table: string;
  readonly found: 'missing' | 'empty';
  readonly action: 'filled' | 'made' | 'to be filled' | 'to be made' | 'left';
  readonly detail: string;
}

const HELP = `
A table appears when it is complete; other tables with rows stay as they are. Their consumers pause meanwhile. What may not
be empty, such as keys of readings and checkpoints, only comes back from a backup: ops restore.`;

export const addRestore = (projections: Command): void => {
  projections
    .command('restore')
    .description('make and fill lost read models again; exit code 1 if something is left')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection')
    .option('--make-empty', 'with --all: also make lost operational tables that may be empty')
    .option('--dry-run', 'only show what is lost, and what would be done')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, options: Options, command: Command) => {
      const chosen = chosenProjections(name, options);
      if (options.makeEmpty && !options.all) throw new OpsError('--make-empty needs --all.');
      const outcomes = await withWorkshop(async (workshop, { pool, config }) => {
        const missing = await findMissingTables(pool);
        requireCheckpoints(missing);
        if (options.dryRun) return planned(workshop, chosen, missing, options);
        const { rows } = await pool.query<{ role: string }>('select current_user as role');
        const application = rows[0]!.role;
        const work = { workshop, missing, application };
        return oneAtATime(workshop, async () => {
          // What an interrupted run left.
          for (const library of migratedLibraries(MODULES)) await dropApart(workshop.pool, library);
          const done = [...(await restoreReadModels(work, chosen)), ...(await makeEmpty(work, options))];
          const still: MissingTables = await findMissingTables(workshop.pool);
          // Rights on what will be created later in a schema that was dropped. They need every schema.
          if (config.DATABASE_OWNER_URL !== undefined && Object.values(still).flat().length === 0)
            await withClient(workshop, (client) => grantToApplication(client, MODULES, application));
          return done;
        });
      });
      const text =
        outcomes.length === 0
          ? 'Nothing is lost: every table exists, and no read model is empty.'
          : tableOf(outcomes, { table: 'table', found: 'found', done: 'action', '': 'detail' });
      // An empty table may rightly be empty: a dry run, which does not read the log, cannot tell.
      const complete = outcomes.every(
        ({ found, action }) => action !== 'left' && (found === 'empty' || !action.startsWith('to be')),
      );
      print(command, { tables: outcomes, complete }, text, !complete);
    });
};

interface Work {
  readonly workshop: Workshop;
  readonly missing: MissingTables;
  /** The role of API and worker. */
  readonly application: string;
}

/** Without checkpoints, processes would repeat their effects: a restore must not let them start. */
const requireCheckpoints = ({ irreplaceable }: MissingTables): void => {
  const lost = irreplaceable.filter((name) => /^(event_sourcing|migrations)\./.test(name));
  if (lost.length > 0)
    throw new OpsError(
      `${lost.join(', ')} cannot be made again: only a backup has the rows. Stop API and workers, then ops restore.`,
    );
};

const lostOf = async (
  { pool }: Workshop,
  projection: Projection,
  { readModels }: MissingTables,
): Promise<readonly Pick<Outcome, 'table' | 'found'>[]> => {
  const empty = await emptyTables(pool, projection);
  return projection.views.flatMap(({ table }): Pick<Outcome, 'table' | 'found'>[] => {
    if (readModels.includes(table)) return [{ table, found: 'missing' }];
    return empty.includes(table) ? [{ table, found: 'empty' }] : [];
  });
};

const planned = async (
  workshop: Workshop,
  chosen: readonly Projection[],
  missing: MissingTables,
  options: Options,
): Promise<readonly Outcome[]> => {
  const lost = await Promise.all(chosen.map((projection) => lostOf(workshop, projection, missing)));
  return [
    ...lost.flat().map((one): Outcome => {
      const detail = one.found === 'empty' ? 'if the log has rows for it' : '';
      return { ...one, action: 'to be filled', detail };
    }),
    ...left(missing, options, 'to be made'),
  ];
};

/** The read models of one library at a time, because their new tables wait in one schema. */
const restoreReadModels = async (work: Work, chosen: readonly Projection[]): Promise<Outcome[]> => {
  const { workshop, missing, application } = work;
  const outcomes: Outcome[] = [];
  for (const projection of chosen) {
    const lost = await lostOf(workshop, projection, missing);
    if (lost.length === 0) continue;
    const library = libraryOf(projection.views[0]!.table);
    await transaction(workshop.pool, (client) => makeApart(client, library));
    const { events } = await withRebuildProgress(projection.name, (report) =>
      refill(workshop, projection, {
        lost: lost.map(({ table }) => table),
        apart,
        putBack: (client, tables) => moveFromApart(client, tables, application),
        ...report,
      }),
    );
    await dropApart(workshop.pool, library);
    for (const one of lost)
      outcomes.push({ ...one, action: 'filled', detail: await filledWith(workshop, one.table, events) });
  }
  return outcomes;
};

const filledWith = async ({ pool }: Workshop, name: string, events: number | null): Promise<string> => {
  if (events === null) return 'a worker fills it from the beginning of the log';
  const { rows } = await pool.query<{ rows: string }>(`select count(*) as rows from ${name}`);
  const count = Number(rows[0]!.rows);
  return count === 0 ? 'rightly empty' : `${count} rows from ${events} events`;
};

const makeEmpty = async (
  { workshop, missing, application }: Work,
  options: Options,
): Promise<readonly Outcome[]> => {
  if (!options.makeEmpty) return left(missing, options, 'made');
  const own = missing.expendable.filter((name) => !JOB_TABLES.includes(name));
  for (const library of new Set(own.map(libraryOf))) {
    await transaction(workshop.pool, async (client) => {
      await makeApart(client, library);
      const tables = own.filter((name) => libraryOf(name) === library);
      await moveFromApart(client, tables, application);
    });
    await dropApart(workshop.pool, library);
  }
  if (missing.expendable.length > own.length) await makeJobTables(workshop.pool);
  return left(missing, options, 'made');
};

/** The lost operational tables, and what is lost with each. */
const left = (
  { expendable, irreplaceable }: MissingTables,
  { all, makeEmpty: mayBeEmpty }: Options,
  made: 'made' | 'to be made',
): readonly Outcome[] => {
  if (!all) return [];
  const found = 'missing';
  return [
    ...expendable.map((table): Outcome => {
      const detail = `lost: ${EXPENDABLE_TABLES[table]}`;
      if (mayBeEmpty) return { table, found, action: made, detail };
      return { table, found, action: 'left', detail: `--make-empty makes it; ${detail}` };
    }),
    ...irreplaceable.map((table): Outcome => {
      return { table, found, action: 'left', detail: 'only a backup has its rows: ops restore' };
    }),
  ];
};

const libraryOf = (name: string): string =>
  migratedLibraries(MODULES).find((library) => name.startsWith(`${schemaOf(library)}.`))!;

/** Two runs would take each other's tables. The session's lock is released when its process dies. */
const oneAtATime = <T>(workshop: Workshop, work: () => Promise<T>): Promise<T> =>
  withClient(workshop, async (client) => {
    const lock = `hashtextextended('projections restore', 0)`;
    const { rows } = await client.query<{ free: boolean }>(`select pg_try_advisory_lock(${lock}) as free`);
    if (!rows[0]!.free) throw new OpsError('Another ops projections restore is under way.');
    try {
      return await work();
    } finally {
      await client.query(`select pg_advisory_unlock(${lock})`).catch(() => undefined);
    }
  });

const withClient = async <T>({ pool }: Workshop, work: (client: PoolClient) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
};
