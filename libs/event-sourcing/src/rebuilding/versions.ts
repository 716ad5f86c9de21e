import type { Pool, PoolClient } from 'pg';
import { intervene } from '../projections/checkpoint.js';
import { categoriesOf, checkpointOf, versionName, type Projection } from '../projections/projection.js';
import { transaction } from '../projections/transaction.js';
import type { EventStore } from '../store/event-store.js';
import { createTables, differencesInShape, dropTables } from './version-tables.js';

/**
 * What rebuilding works with. The pool must not bound the time of a query, since comparing large tables takes long, and
 * its sessions should have `REBUILDING_SESSION`.
 */
export interface Workshop {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Tells this build of the program from every other: the rows of a version are all made by one. */
  readonly program: string;
}

/** Rows and checkpoint of a batch are lost together or not at all, so a rebuild need not wait for the disk. */
export const REBUILDING_SESSION = '-c synchronous_commit=off';

/** What was asked for would not be safe, or cannot be done now. Each reason is a sentence for the operator. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly reasons: readonly string[]) {
    super(reasons.join(' '));
  }
}

/** A version of a projection's tables. Positions are of the log. */
export interface Version {
  readonly version: number;
  readonly state: 'building' | 'live' | 'retired';
  /** How far its rows account for the log. */
  readonly position: bigint | null;
  readonly verifiedPosition: bigint | null;
  /** Rows that differed from the live ones when it was verified. */
  readonly differences: number | null;
  readonly parkedEvents: number;
  /** The build of the program that began it; `null` of the first version, and of those begun before it was recorded. */
  readonly program: string | null;
  readonly createdAt: Date | null;
  readonly switchedAt: Date | null;
}

interface Row {
  version: number;
  state: Version['state'];
  position: string | null;
  verified_position: string | null;
  differences: string | null;
  parked: number;
  program: string | null;
  created_at: Date | null;
  switched_at: Date | null;
}

/** Every version there is of a projection, oldest first; the live one is always among them. */
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
     select known.*, consumer.position, parked.parked
     from known
     cross join lateral (select case known.state when 'live' then $2 else $1 || '__v' || known.version end) checkpoint (name)
     left join event_sourcing.consumer on consumer.name = checkpoint.name
     cross join lateral (
       select count(*)::int as parked from event_sourcing.parked_event where consumer = checkpoint.name) parked
     order by version`,
    [projection.name, checkpointOf(projection)],
  );
  return rows.map((row) => ({
    version: row.version,
    state: row.state,
    position: asPosition(row.position),
    verifiedPosition: asPosition(row.verified_position),
    differences: row.differences === null ? null : Number(row.differences),
    parkedEvents: row.parked,
    program: row.program,
    createdAt: row.created_at,
    switchedAt: row.switched_at,
  }));
};

/** The version that is being built. @throws Refused when there is none, or another build of the program began it */
export const buildingVersion = async (
  { pool, program }: Workshop,
  projection: Projection,
): Promise<Version> => {
  const found = (await versionsOf(pool, projection)).find(({ state }) => state === 'building');
  if (!found) throw new Refused([`No version of ${projection.name} is being built: rebuild it first.`]);
  requireSameProgram(program, projection, found);
  return found;
};

/** For whoever holds `oneAtATime`. @throws Refused when another operator has switched to or dropped it meanwhile */
export const requireStillBuilding = async (
  client: PoolClient,
  projection: Projection,
  { version, createdAt }: Version,
): Promise<void> => {
  const found = (await versionsOf(client, projection)).find(({ state }) => state === 'building');
  // A version that was dropped leaves its number to the next.
  if (found?.version !== version || found.createdAt?.getTime() !== createdAt?.getTime())
    throw new Refused([`Version ${version} of ${projection.name} is no longer being built.`]);
};

/** Code that changed meanwhile would leave the rows it made before as they are, and nothing would tell which. */
const requireSameProgram = (program: string, { name }: Projection, begun: Version): void => {
  if (begun.program !== program)
    throw new Refused([
      `Version ${begun.version} of ${name} was begun by another build of the program, and its rows would be of both.`,
      `Drop it (ops projections drop ${name} --unfinished) and rebuild.`,
    ]);
};

/**
 * The number of the version being built: the one begun before, or a new one with empty tables.
 * @throws Refused when the one begun before is of another build of the program, or of another schema
 */
export const beginVersion = ({ pool, program }: Workshop, projection: Projection): Promise<number> =>
  transaction(pool, async (client) => {
    await oneAtATime(client, projection);
    const versions = await versionsOf(client, projection);
    const begun = versions.find(({ state }) => state === 'building');
    if (begun) {
      requireSameProgram(program, projection, begun);
      await requireSameShape(client, projection, begun.version);
      return begun.version;
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

/** Drops the tables of versions that are not live: those retired, and with `unfinished` also the one being built. */
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

/** Before the tables go, as a batch takes them in this order: a rebuild that still runs would else be in a deadlock. */
const removeConsumer = async (client: PoolClient, name: string): Promise<void> => {
  await client.query('delete from event_sourcing.consumer where name = $1', [name]);
  await client.query('delete from event_sourcing.parked_event where consumer = $1', [name]);
};

/** Two operators who change the versions of one projection wait for each other. */
export const oneAtATime = (client: PoolClient, { name }: Projection): Promise<unknown> =>
  client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`versions of ${name}`]);

/** @throws Refused when tables of the version cannot take the place of the live ones */
export const requireSameShape = async (
  client: PoolClient,
  projection: Projection,
  version: number,
): Promise<void> => {
  const differences: string[] = [];
  for (const view of projection.views) differences.push(...(await differencesInShape(client, view, version)));
  if (differences.length > 0)
    throw new Refused([
      `The schema has changed since version ${version} was begun: ${differences.join(', ')}. Drop it and rebuild.`,
    ]);
};

/** Moves what a version knows of parked streams to the live consumer, which takes its place. */
export const takeOverParked = async (
  client: PoolClient,
  projection: Projection,
  version: number,
): Promise<void> => {
  if (projection.keptBy === undefined) {
    await client.query('delete from event_sourcing.parked_event where consumer = $1', [projection.name]);
    await client.query('update event_sourcing.parked_event set consumer = $2 where consumer = $1', [
      versionName(projection.name, version),
      projection.name,
    ]);
  }
  await client.query('delete from event_sourcing.consumer where name = $1', [
    versionName(projection.name, version),
  ]);
  await intervene(client, checkpointOf(projection));
};

const asPosition = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
