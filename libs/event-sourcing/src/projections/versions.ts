import type { PoolClient, Pool } from 'pg';
import { versionName, categoriesOf, checkpointOf, type Projection } from './projection.js';
import type { View } from './view.js';
import { intervene, transaction } from './checkpoint.js';
import { askForRetry } from './parked-streams.js';
import type { EventStore } from '../store/event-store.js';

/**
 * A version's tables are named `<table>__v<version>` and have the columns, checks and indexes of the live ones. Their
 * indexes are named `<index>__v<version>`. A switch renames them all, so live tables, indexes and constraints always
 * have their plain names, and migrations can ignore versions.
 */
const createTables = async (client: PoolClient, view: View, version: number): Promise<void> => {
  const table = versionName(view.table, version);
  await client.query(`create table ${table} (like ${view.table} including all excluding indexes)`);
  for (const { name, definition, constraint } of await indexesOf(client, view.table)) {
    const own = versionName(name, version);
    await client.query(
      constraint === null
        ? definition.replace(/^(CREATE (?:UNIQUE )?INDEX) \S+ ON \S+/, `$1 ${own} ON ${table}`)
        : `alter table ${table} add constraint ${own} ${constraint}`,
    );
  }
};

/** Renames a version's tables to the live names, and the live tables to the names of their version. */
export const exchangeTables = async (
  client: PoolClient,
  { table, key, external = [] }: View,
  from: number,
  to: number,
): Promise<void> => {
  const next = versionName(table, to);
  await client.query(`lock table ${table}, ${next} in access exclusive mode`);
  if (external.length > 0) {
    await client.query(
      `update ${next} as next set ${external.map((column) => `${column} = live.${column}`).join(', ')}
       from ${table} as live where ${key.map((column) => `next.${column} = live.${column}`).join(' and ')}`,
    );
  }
  const [schema = '', plain = ''] = table.split('.');
  const liveIndexes = await indexesOf(client, table);
  await client.query(`alter table ${table} rename to ${versionName(plain, from)}`);
  for (const { name } of liveIndexes)
    await client.query(`alter index ${schema}.${name} rename to ${versionName(name, from)}`);
  const nextIndexes = await indexesOf(client, next);
  await client.query(`alter table ${next} rename to ${plain}`);
  for (const { name } of nextIndexes) {
    const live = name.replace(new RegExp(`${versionName('', to)}$`), '');
    await client.query(`alter index ${schema}.${name} rename to ${live}`);
  }
};

const dropTables = async (client: PoolClient, view: View, version: number): Promise<void> => {
  await client.query(`drop table if exists ${versionName(view.table, version)}`);
};

/** Describes how the columns and indexes of two tables differ, a sentence each; empty when they can be exchanged. */
const differencesInShape = async (
  client: PoolClient,
  view: View,
  version: number,
): Promise<readonly string[]> => {
  const other = versionName(view.table, version);
  const [live, built] = [await columnsOf(client, view.table), await columnsOf(client, other)];
  if (built.length === 0) return [`${other} does not exist`];
  const differences: string[] = [];
  if (live.join() !== built.join())
    differences.push(`${other} has other columns than ${view.table} (${different(live, built).join('; ')})`);
  const names = (await indexesOf(client, view.table)).map(({ name }) => versionName(name, version));
  const others = (await indexesOf(client, other)).map(({ name }) => name);
  if (different(names, others).length > 0)
    differences.push(
      `${other} has other indexes than ${view.table} (${different(names, others).join('; ')})`,
    );
  return differences;
};

/** Column names with types, in order. */
const columnsOf = async (client: PoolClient, table: string): Promise<readonly string[]> => {
  const { rows } = await client.query<{ column: string }>(
    `select attname || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then ' not null' else '' end as column
     from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  return rows.map(({ column }) => column);
};

interface Index {
  readonly name: string;
  readonly definition: string;
  /** Definition of the constraint that owns the index, such as the primary key. */
  readonly constraint: string | null;
}

const indexesOf = async (client: PoolClient, table: string): Promise<readonly Index[]> => {
  const { rows } = await client.query<Index>(
    `select class.relname as name, pg_get_indexdef(index.indexrelid) as definition,
            pg_get_constraintdef(con.oid) as constraint
     from pg_index index
     join pg_class class on class.oid = index.indexrelid
     left join pg_constraint con on con.conindid = index.indexrelid and con.conrelid = index.indrelid
     where index.indrelid = to_regclass($1)
     order by class.relname`,
    [table],
  );
  return rows;
};

const different = (one: readonly string[], other: readonly string[]): readonly string[] => [
  ...one.filter((name) => !other.includes(name)),
  ...other.filter((name) => !one.includes(name)),
];

/**
 * What a rebuild needs. The pool must have no query timeout, since comparing large tables takes long. Its sessions
 * should use `REBUILDING_SESSION`.
 */
export interface Workshop {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Identifies this build of the program: all rows of a version must come from one build. */
  readonly program: string;
}

/**
 * Rows and checkpoint of a batch commit together, so a rebuild need not wait for the disk. A crash loses both or none.
 */
export const REBUILDING_SESSION = '-c synchronous_commit=off';

/** The request is unsafe, or not possible now. Each reason is a sentence for the operator. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly reasons: readonly string[]) {
    super(reasons.join(' '));
  }
}

/** A version of a projection's tables. Positions are log positions. */
export interface Version {
  readonly version: number;
  readonly state: 'building' | 'live' | 'retired';
  /** The log position up to which its rows are complete. */
  readonly position: bigint | null;
  readonly verifiedPosition: bigint | null;
  /** Number of rows that differed from the live ones at verification. */
  readonly differences: number | null;
  readonly parkedStreams: number;
  /** The build of the program that started it; `null` for the first version. */
  readonly program: string | null;
  readonly createdAt: Date | null;
  readonly switchedAt: Date | null;
}

type Row = Omit<Version, 'position' | 'verifiedPosition' | 'differences'> &
  Readonly<Record<'position' | 'verifiedPosition' | 'differences', string | null>>;

/** All versions of a projection, oldest first, always including the live one. */
export const versionsOf = async (
  client: Pick<Pool, 'query'>,
  projection: Projection,
): Promise<readonly Version[]> => {
  const { rows } = await client.query<Row>(
    `with known as (
       select version, state, verified_position, differences, created_at, switched_at, program
       from event_sourcing.projection_version where projection = $1
       union all
       select 1, 'live', null, null, null, null, null
       where not exists (select from event_sourcing.projection_version where projection = $1 and state = 'live')
     )
     select known.version, known.state, consumer.position, known.verified_position as "verifiedPosition",
            known.differences, parked.parked as "parkedStreams", known.program,
            known.created_at as "createdAt", known.switched_at as "switchedAt"
     from known
     cross join lateral (select case known.state when 'live' then $2 else $1 || '__v' || known.version end) checkpoint (name)
     left join event_sourcing.consumer on consumer.name = checkpoint.name
     cross join lateral (
       select count(distinct stream)::int as parked from event_sourcing.parked_stream
       where consumer = checkpoint.name) parked
     order by version`,
    [projection.name, checkpointOf(projection)],
  );
  return rows.map((row) => ({
    ...row,
    position: asPosition(row.position),
    verifiedPosition: asPosition(row.verifiedPosition),
    differences: row.differences === null ? null : Number(row.differences),
  }));
};

/** The version being built. @throws Refused when there is none, or another build of the program started it */
export const buildingVersion = async (
  { pool, program }: Workshop,
  projection: Projection,
): Promise<Version> => {
  const found = (await versionsOf(pool, projection)).find(({ state }) => state === 'building');
  if (!found) throw new Refused([`No version of ${projection.name} is being built: rebuild it first.`]);
  requireSameProgram(program, projection, found);
  return found;
};

/** The caller must hold `oneAtATime`. @throws Refused when another operator switched to the version or dropped it */
export const requireStillBuilding = async (
  client: PoolClient,
  projection: Projection,
  { version, createdAt }: Version,
): Promise<void> => {
  const found = (await versionsOf(client, projection)).find(({ state }) => state === 'building');
  // The number of a dropped version is used again for the next one.
  if (found?.version !== version || found.createdAt?.getTime() !== createdAt?.getTime())
    throw new Refused([`Version ${version} of ${projection.name} is no longer being built.`]);
};

/** After a code change, a version would mix rows of the old and the new code, and nothing would show which is which. */
const requireSameProgram = (program: string, { name }: Projection, unfinished: Version): void => {
  if (unfinished.program !== program)
    throw new Refused([
      `Version ${unfinished.version} of ${name} was started by another build of the program, and would mix rows of both.`,
      `Drop it (ops projections drop ${name} --unfinished) and rebuild.`,
    ]);
};

/**
 * Resumes the version being built, or creates one with empty tables.
 * @returns its number
 * @throws Refused when the version was started by another build of the program, or has another schema
 */
export const beginVersion = ({ pool, program }: Workshop, projection: Projection): Promise<number> =>
  transaction(pool, async (client) => {
    await oneAtATime(client, projection);
    const versions = await versionsOf(client, projection);
    const unfinished = versions.find(({ state }) => state === 'building');
    if (unfinished) {
      requireSameProgram(program, projection, unfinished);
      await requireSameShape(client, projection, unfinished.version);
      return unfinished.version;
    }
    const version = Math.max(...versions.map((known) => known.version)) + 1;
    await client.query(
      `insert into event_sourcing.projection_version (projection, version, state, program)
       values ($1, $2, 'building', $3)`,
      [projection.name, version, program],
    );
    const name = versionName(projection.name, version);
    await removeConsumer(client, name);
    await client.query('insert into event_sourcing.consumer (name, categories) values ($1, $2)', [
      name,
      categoriesOf(projection),
    ]);
    for (const view of projection.views) await createTables(client, view, version);
    return version;
  });

/** Drops the tables of retired versions; with `unfinished`, also those of the version being built. */
export const dropVersions = (
  { pool }: Workshop,
  projection: Projection,
  { unfinished }: { unfinished: boolean },
): Promise<readonly number[]> =>
  transaction(pool, async (client) => {
    await oneAtATime(client, projection);
    const dropped = (await versionsOf(client, projection)).filter(
      ({ state }) => state === 'retired' || (unfinished && state === 'building'),
    );
    for (const { version } of dropped) {
      await removeConsumer(client, versionName(projection.name, version));
      for (const view of projection.views) await dropTables(client, view, version);
      await client.query(
        'delete from event_sourcing.projection_version where projection = $1 and version = $2',
        [projection.name, version],
      );
    }
    return dropped.map(({ version }) => version);
  });

/** Call before dropping the tables. A batch locks in the same order, so a running rebuild cannot deadlock with it. */
const removeConsumer = async (client: PoolClient, name: string): Promise<void> => {
  await client.query('delete from event_sourcing.consumer where name = $1', [name]);
  await client.query('delete from event_sourcing.parked_stream where consumer = $1', [name]);
};

/** Serializes operators who change the versions of one projection, until the transaction ends. */
export const oneAtATime = (client: PoolClient, { name }: Projection): Promise<unknown> =>
  client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`versions of ${name}`]);

/** @throws Refused when the version's tables cannot replace the live ones */
export const requireSameShape = async (
  client: PoolClient,
  projection: Projection,
  version: number,
): Promise<void> => {
  const differences: string[] = [];
  for (const view of projection.views) differences.push(...(await differencesInShape(client, view, version)));
  if (differences.length > 0)
    throw new Refused([
      `The schema has changed since version ${version} was started: ${differences.join(', ')}. Drop it and rebuild.`,
    ]);
};

/**
 * Moves a version's parked streams to the consumer that keeps the live rows, which tries them again, and removes the
 * version's consumer. A process that keeps the rows (`keptBy`) may have handled these events before; its effects are
 * idempotent.
 * Without effects, what the projection itself has parked is forgotten: the version has every row of it. With effects, it
 * is tried again: rows that are there already do not change, and the effects are still due.
 */
export const takeOverParked = async (
  client: PoolClient,
  projection: Projection,
  version: number,
): Promise<void> => {
  const { name, keptBy, effects } = projection;
  const own = versionName(name, version);
  const live = checkpointOf(projection);
  if (keptBy === undefined && effects === undefined)
    await client.query('delete from event_sourcing.parked_stream where consumer = $1', [name]);
  // Of a stream that both have parked, the earlier event is where it waits.
  await client.query(
    `delete from event_sourcing.parked_stream later using event_sourcing.parked_stream earlier
     where later.consumer in ($1, $2) and earlier.consumer in ($1, $2) and later.consumer <> earlier.consumer
       and later.key = earlier.key and later.stream = earlier.stream
       and (later.position > earlier.position or (later.position = earlier.position and later.consumer = $1))`,
    [own, live],
  );
  await client.query('update event_sourcing.parked_stream set consumer = $2 where consumer = $1', [
    own,
    live,
  ]);
  await askForRetry(client, live);
  await client.query('delete from event_sourcing.consumer where name = $1', [own]);
  await intervene(client, live);
};

/** What is compared from now on may differ: versions that are being built have to be verified again. */
export const forgetVerifications = async (pool: Pick<Pool, 'query'>): Promise<void> => {
  await pool.query(
    `update event_sourcing.projection_version set verified_position = null, differences = null where state = 'building'`,
  );
};

const asPosition = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
