import type { PoolClient, Pool } from 'pg';
import { versionName, categoriesOf, checkpointOf, versionConsumer, type Projection } from './projection.js';
import type { View } from './view.js';
import { intervene, transaction, advance, findCheckpoint, holdCheckpoint } from './checkpoint.js';
import { askForRetry, ParkedKeys } from './parked-streams.js';
import type { EventStore } from '../store/event-store.js';
import { batches, BatchHandler } from './runner.js';
import type { Consumer } from './consumer.js';
import { describe, isDependencyAway } from '../store/errors.js';
import { eventsUpTo } from '../store/events-up-to.js';
import { setTimeout as delay } from 'node:timers/promises';

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
      for (const { table } of projection.views)
        await client.query(`drop table if exists ${versionName(table, version)}`);
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

/** Called after each batch. `fraction` is the part of the log that was read, by position, from 0 to 1. */
export type RebuildProgress = (done: { events: number; fraction: number }) => void;

export interface RebuildOptions {
  readonly onProgress?: RebuildProgress;
  readonly signal?: AbortSignal;
  /** Events written in one transaction, at most. Default 2,000. */
  readonly batchSize?: number;
}

const BATCH = 2_000;
/** How long a batch may take to fill: in full batches an event costs the database half as much. */
const FULL_WITHIN_MS = 500;
/** The live view advances while a version catches up with it. After this many rounds, few events remain. */
const ROUNDS = 5;
/** Events that a version may still lack when the live view is paused for it, at most. */
const FEW = 2_000;

/**
 * Builds another version of a projection's tables from the log, up to the live view's position. The live view keeps
 * running. Resumes an interrupted rebuild: each batch commits with its checkpoint.
 * @returns the version and the number of events handled
 * @throws Refused when it cannot continue, or when another rebuild is running
 */
export const rebuild = async (
  workshop: Workshop,
  projection: Projection,
  options: RebuildOptions = {},
): Promise<{ version: number; events: number }> => {
  const release = await claim(workshop, projection);
  try {
    const version = await beginVersion(workshop, projection);
    const consumer = versionConsumer(projection, version);
    let events = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const target = await liveOrHead(workshop, projection);
      if (target === null) break;
      const handled = await catchUp(workshop, consumer, target, {
        ...options,
        onProgress: (done) => options.onProgress?.({ ...done, events: events + done.events }),
      });
      events += handled;
      if (options.signal?.aborted || handled <= FEW) break;
    }
    for (const { table } of projection.views)
      await workshop.pool.query(`analyze ${versionName(table, version)}`);
    return { version, events };
  } finally {
    await release();
  }
};

/**
 * Pauses the live view, catches the version up to the same position, and runs the work. Writers of the live view wait;
 * readers do not. Waits for other operators before it pauses the live view, never after.
 * @throws Refused when the version is no longer being built, is too far behind or is ahead of the live view, or when the
 *   live view has not handled any event
 */
export const atEqualPosition = async <T>(
  workshop: Workshop,
  projection: Projection,
  building: Version,
  work: (client: PoolClient, position: bigint) => Promise<T>,
): Promise<T> => {
  const { version } = building;
  const consumer = versionConsumer(projection, version);
  const live = checkpointOf(projection);
  return transaction(workshop.pool, async (client) => {
    await oneAtATime(client, projection);
    await requireStillBuilding(client, projection, building);
    const held = await holdCheckpoint(client, live);
    if (held === null || held.position === null)
      throw new Refused([`${live} has not handled any event yet. Is a worker running?`]);
    const own = (await findCheckpoint(workshop.pool, consumer.name))?.position ?? null;
    if (own !== null && own > held.position)
      throw new Refused([
        `${live} is still behind version ${version} of ${projection.name}: wait for its worker.`,
      ]);
    const behind = await countEvents(workshop.store, consumer, own, held.position, FEW + 1);
    if (behind > FEW)
      throw new Refused([
        `Version ${version} of ${projection.name} is more than ${FEW} events behind: resume its rebuild.`,
      ]);
    await catchUp(workshop, consumer, held.position, {});
    return work(client, held.position);
  });
};

/**
 * Handles the consumer's events up to a position. Reads ahead while a batch is written.
 * @returns the number of events handled
 */
const catchUp = async (
  workshop: Workshop,
  consumer: Consumer,
  to: bigint,
  { onProgress, signal, batchSize = BATCH }: RebuildOptions,
): Promise<number> => {
  const { store, pool, log } = workshop;
  const { categories } = consumer;
  // Never created here: a new checkpoint would not account for the rows that the version already has.
  let checkpoint = await findCheckpoint(pool, consumer.name);
  if (checkpoint === null)
    throw new Refused([
      `${consumer.name} has no checkpoint: its version is missing or damaged. Drop it and rebuild.`,
    ]);
  const start = checkpoint.position ?? 0n;
  if (checkpoint.position !== null && start >= to) return 0;
  const handler = new BatchHandler(consumer, { pool, log }, await ParkedKeys.load(pool, consumer));
  const ended = signal ?? new AbortController().signal;
  let events = 0;
  const source = batches(eventsUpTo(store, { categories, after: checkpoint.position, to }), {
    maximum: batchSize,
    spacingMs: FULL_WITHIN_MS,
    quietMs: 1_000,
    quietPosition: () => null,
    signal: ended,
  });
  for await (const batch of source) {
    checkpoint = await handler.handle(checkpoint, batch, ended).catch((error: unknown) => {
      if (isDependencyAway(error)) throw error;
      throw new Refused([`${consumer.name} cannot continue: ${describe(error)}.`]);
    });
    events += batch.events.length;
    onProgress?.({ events, fraction: Number(batch.position - start) / Number(to - start) });
  }
  if (!ended.aborted && (checkpoint.position === null || checkpoint.position < to))
    await advance(pool, consumer, checkpoint, to, []);
  return events;
};

/** Counts the consumer's events between two positions, at most `most`. */
const countEvents = async (
  store: EventStore,
  { categories }: Pick<Consumer, 'categories'>,
  after: bigint | null,
  to: bigint,
  most: number,
): Promise<number> => {
  let count = 0;
  for await (const _ of eventsUpTo(store, { categories, after, to })) {
    count += 1;
    if (count >= most) break;
  }
  return count;
};

const liveOrHead = async ({ pool, store }: Workshop, projection: Projection): Promise<bigint | null> =>
  (await findCheckpoint(pool, checkpointOf(projection)))?.position ?? store.head();

/** Allows one rebuild of a projection at a time. The session lock is released when its process dies. */
const claim = async ({ pool }: Workshop, projection: Projection): Promise<() => Promise<void>> => {
  const client = await pool.connect();
  const { rows } = await client.query<{ free: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as free',
    [`rebuild of ${projection.name}`],
  );
  if (!rows[0]?.free) {
    client.release();
    throw new Refused([`Another rebuild of ${projection.name} is under way.`]);
  }
  return async () => {
    await client
      .query('select pg_advisory_unlock(hashtextextended($1, 0))', [`rebuild of ${projection.name}`])
      .catch(() => undefined);
    client.release();
  };
};

/** Compares the rows of a live table with those of its version, at the same position. */
export interface TableComparison {
  readonly table: string;
  readonly rows: number;
  /** Over all rows and columns, independent of row order; lowercase hex. */
  readonly hash: string;
  readonly versionRows: number;
  readonly versionHash: string;
  /** Rows that differ or exist in only one of the two tables. */
  readonly differences: number;
  /** Keys of some of them. */
  readonly examples: readonly string[];
}

export interface Verification {
  readonly version: number;
  readonly position: bigint;
  readonly equal: boolean;
  readonly tables: readonly TableComparison[];
}

const EXAMPLES = 5;

/**
 * Compares the version being built with the live tables, row by row, at one position. The live view pauses only while
 * the version catches up; the comparison reads a snapshot.
 */
export const verify = async (workshop: Workshop, projection: Projection): Promise<Verification> => {
  const building = await buildingVersion(workshop, projection);
  const { version } = building;
  const snapshot = await workshop.pool.connect();
  let broken = true;
  try {
    await requireSameShape(snapshot, projection, version);
    const position = await atEqualPosition(workshop, projection, building, async (_, at) => {
      await snapshot.query('begin isolation level repeatable read read only');
      // The first query takes the snapshot, while both are at this position.
      await snapshot.query('select 1');
      return at;
    });
    const tables: TableComparison[] = [];
    for (const view of projection.views) tables.push(await compare(snapshot, view, version));
    await snapshot.query('commit');
    broken = false;
    const differences = tables.reduce((sum, table) => sum + table.differences, 0);
    await workshop.pool.query(
      `update event_sourcing.projection_version set verified_position = $3, differences = $4
       where projection = $1 and version = $2`,
      [projection.name, version, String(position), differences],
    );
    return { version, position, equal: differences === 0, tables };
  } finally {
    snapshot.release(broken);
  }
};

const compare = async (client: PoolClient, view: View, version: number): Promise<TableComparison> => {
  const other = versionName(view.table, version);
  const columns = await comparedColumns(client, view);
  const live = await hashOf(client, view.table, columns);
  const built = await hashOf(client, other, columns);
  const found =
    live.hash === built.hash
      ? { differences: 0, examples: [] }
      : await differing(client, view, other, columns);
  return {
    table: view.table,
    rows: live.rows,
    hash: live.hash,
    versionRows: built.rows,
    versionHash: built.hash,
    ...found,
  };
};

const comparedColumns = async (client: PoolClient, { table, external = [] }: View): Promise<string> => {
  const { rows } = await client.query<{ attname: string }>(
    `select attname from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all ($2) order by attname`,
    [table, external],
  );
  return rows.map(({ attname }) => attname).join(', ');
};

/** Adds up row hashes in two 64-bit sums: independent of row order, in constant memory. */
const hashOf = async (
  client: PoolClient,
  table: string,
  columns: string,
): Promise<{ rows: number; hash: string }> => {
  const { rows } = await client.query<{ rows: string; hash: string }>(
    `select count(*) as rows, md5(concat_ws('|', count(*), sum(head), sum(tail))) as hash
     from (select ('x' || left(hash, 16))::bit(64)::bigint::numeric as head,
                  ('x' || right(hash, 16))::bit(64)::bigint::numeric as tail
           from (select md5(row(${columns})::text) as hash from ${table}) hashed) halves`,
  );
  return { rows: Number(rows[0]!.rows), hash: rows[0]!.hash };
};

const differing = async (
  client: PoolClient,
  { table, key }: View,
  other: string,
  columns: string,
): Promise<{ differences: number; examples: readonly string[] }> => {
  const rowsOf = (from: string) =>
    `select ${key.join(', ')}, md5(row(${columns})::text) as hash from ${from}`;
  const { rows } = await client.query<{ id: string; total: string }>(
    `select concat_ws('/', ${key.map((column) => `coalesce(live.${column}, built.${column})`).join(', ')}) as id,
            count(*) over () as total
     from (${rowsOf(table)}) live
     full join (${rowsOf(other)}) built on ${key.map((column) => `live.${column} = built.${column}`).join(' and ')}
     where live.hash is distinct from built.hash
     order by id limit ${EXAMPLES}`,
  );
  return { differences: Number(rows[0]?.total ?? 0), examples: rows.map(({ id }) => id) };
};

export interface SwitchRequest {
  /** `operator:<login name>` */
  readonly by: string;
  /** The operator's reason to accept rows that differ or were not verified, or parked streams. */
  readonly acceptDifferences?: string;
}

/** How long a switch waits for its lock. Readers queue behind it meanwhile, so it then retries after a pause. */
const LOCK_WITHIN = '1s';
/** Readers wait during the exchange, so a frozen switch is undone soon. */
const PAUSE_WITHIN = '10s';
const TRIES = 20;
const PAUSE_MS = 250;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Replaces the live version by the one being built, in one transaction: readers see either of them, and the live view
 * continues from the same position. The old tables stay until they are dropped.
 * @throws Refused with every reason why it would not be safe
 */
export const switchVersion = async (
  workshop: Workshop,
  projection: Projection,
  request: SwitchRequest,
): Promise<{ version: number; retired: number; position: bigint }> => {
  const building = await buildingVersion(workshop, projection);
  const reasons = request.acceptDifferences === undefined ? reasonsAgainst(projection, building) : [];
  if (reasons.length > 0) throw new Refused(reasons);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await exchange(workshop, projection, building, request);
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === TRIES)
        throw new Refused([
          `${projection.name} was not switched: readers kept its tables locked. Try again.`,
        ]);
      await delay(PAUSE_MS);
    }
  }
};

const reasonsAgainst = (projection: Projection, building: Version): readonly string[] => {
  const { version, verifiedPosition, differences, parkedStreams } = building;
  const which = `Version ${version} of ${projection.name}`;
  const reasons: string[] = [];
  if (building.position === null) reasons.push(`${which} is empty: its rebuild has not handled any event.`);
  else if (verifiedPosition === null) reasons.push(`${which} was not verified.`);
  if (differences !== null && differences > 0)
    reasons.push(`${which} differs from the live one in ${differences} rows.`);
  if (parkedStreams > 0)
    reasons.push(`${which} has ${parkedStreams} parked streams: ops doctor names their cause.`);
  return reasons;
};

const exchange = (
  workshop: Workshop,
  projection: Projection,
  building: Version,
  { by, acceptDifferences }: SwitchRequest,
): Promise<{ version: number; retired: number; position: bigint }> =>
  atEqualPosition(workshop, projection, building, async (client, position) => {
    const { version } = building;
    await requireSameShape(client, projection, version);
    const live = (await versionsOf(client, projection)).find(({ state }) => state === 'live')!.version;
    await client.query(
      `set local lock_timeout = '${LOCK_WITHIN}'; set local synchronous_commit = on;
       set local idle_in_transaction_session_timeout = '${PAUSE_WITHIN}'`,
    );
    for (const view of projection.views) await exchangeTables(client, view, live, version);
    await client.query(
      `insert into event_sourcing.projection_version (projection, version, state) values ($1, $2, 'retired')
       on conflict (projection, version) do update set state = 'retired'`,
      [projection.name, live],
    );
    await client.query(
      `update event_sourcing.projection_version
       set state = 'live', switched_at = now(), switched_by = $3, reason = $4 where projection = $1 and version = $2`,
      [projection.name, version, by, acceptDifferences ?? null],
    );
    // A rebuild skips effects: those of parked events, such as the deletion of a key, are still due.
    await takeOverParked(client, projection, version);
    return { version, retired: live, position };
  });
