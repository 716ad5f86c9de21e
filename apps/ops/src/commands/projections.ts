import type { Command } from 'commander';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { consumerLag, rejoinLog, type ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { checkpointOf, type Projection } from '#event-sourcing/projections/projection.js';
import {
  rebuild,
  switchVersion,
  verify,
  dropVersions,
  REBUILDING_SESSION,
  Refused,
  versionsOf,
  type Verification,
  type Workshop,
} from '#event-sourcing/projections/rebuild.js';
import { replayStream } from '#event-sourcing/projections/replay-stream.js';
import { openPool } from '#platform/postgres/pool.js';
import { projectPath } from '#platform/project-path.js';
import { PROJECTIONS } from '../../../service/src/projections.js';
import { type Columns, OpsError, print, tableOf, withProgress } from '../output.js';
import { withSession, type Session } from '../session.js';
import { example, wholeNumber } from './options.js';

/** Read models: their state, and how to rebuild them while they stay in use. */
const addProjectionsCommands = (projections: Command): void => {
  projections.addHelpText(
    'after',
    `
A rebuild fills a new version of a projection's tables beside the live ones, which stay in use. It is compared with them
row by row and replaces them in one transaction; the old tables are dropped later: rebuild, verify, switch, drop, or
replay for all of it.`,
  );
  projections
    .command('status')
    .description('the versions of each projection, their positions, and whether they were verified')
    .argument('[name]', 'one projection; default: all')
    .addHelpText('after', example('projections status billing.balance.v1'))
    .action(async (name: string | undefined, _: object, command: Command) => {
      const chosen = name === undefined ? PROJECTIONS : [requireProjection(name)];
      const found = await withSession(async ({ pool, store }) =>
        projectionStates(pool, await consumerLag(pool, store), chosen),
      );
      print(command, { projections: found }, tableOf(versionsIn(found), VERSION_COLUMNS));
    });
  projections
    .command('lag')
    .description('how far each projection and process is behind the log, in events and seconds')
    .option('--max-seconds <n>', 'exit with 1 when one is further behind, or does not run', wholeNumber)
    .addHelpText('after', example('projections lag --max-seconds 30 || page-someone'))
    .action(async ({ maxSeconds }: { maxSeconds?: number }, command: Command) => {
      const consumers = await withSession(({ pool, store }) => consumerLag(pool, store));
      const late = consumers.some(({ seconds, status }) => seconds > maxSeconds! || status !== 'running');
      print(command, { consumers }, tableOf(consumers, LAG_COLUMNS), maxSeconds !== undefined && late);
    });

  projections
    .command('rebuild')
    .description('fill a new version of the tables from the log, or go on after an interruption')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection, one after the other')
    .addHelpText('after', example('projections rebuild readings.reading.v1'))
    .action(async (name: string | undefined, options: Chosen, command: Command) => {
      const chosen = chosenProjections(name, options);
      const built = await withWorkshop((workshop) => forEach(chosen, (one) => build(workshop, one)));
      print(command, { rebuilt: built }, tableOf(built, BUILT_COLUMNS));
    });

  projections
    .command('verify')
    .description('compare the version being built with the live rows; exit code 1 if they differ')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection that is being rebuilt')
    .addHelpText('after', example('projections verify readings.reading.v1'))
    .action(async (name: string | undefined, options: Chosen, command: Command) => {
      const chosen = chosenProjections(name, options);
      const verified = await withWorkshop(async (workshop) =>
        forEach(await underConstruction(workshop, chosen), (one) => verify(workshop, one)),
      );
      const isEqual = verified.every(({ equal }) => equal);
      print(command, { equal: isEqual, verified }, describe(verified), !isEqual);
    });

  projections
    .command('switch')
    .description('replace the live version with the verified one, in one transaction')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection that is being rebuilt')
    .option(ACCEPT, 'switch although rows differ or were not compared; the reason is recorded')
    .addHelpText('after', example('projections switch readings.reading.v1'))
    .action(async (name: string | undefined, options: Accepting, command: Command) => {
      const chosen = chosenProjections(name, options);
      const switched = await withWorkshop(async (workshop, { actor }) =>
        forEach(await underConstruction(workshop, chosen), (one) =>
          switchVersion(workshop, one, request(actor, options)),
        ),
      );
      const text = switched.map(
        ({ projection, version, retired, position }) =>
          `${projection} is v${version} from position ${position} on; v${retired} remains until ops projections drop ${projection}`,
      );
      print(command, { switched }, text);
    });

  projections
    .command('drop')
    .description('delete the tables of replaced versions')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection')
    .option('--unfinished', 'also drop the version being built')
    .addHelpText('after', example('projections drop readings.reading.v1'))
    .action(async (name: string | undefined, options: Chosen & { unfinished?: true }, command: Command) => {
      const chosen = chosenProjections(name, options);
      const unfinished = options.unfinished ?? false;
      const dropped = await withWorkshop((workshop) =>
        forEach(chosen, async (one) => ({ versions: await dropVersions(workshop, one, { unfinished }) })),
      );
      const text = dropped
        .filter(({ versions }) => versions.length > 0)
        .map(({ projection, versions }) => `${projection}: dropped v${versions.join(', v')}`);
      print(command, { dropped }, text.join('\n') || 'There was nothing to drop');
    });

  projections
    .command('replay')
    .description('rebuild, verify, switch and drop in one step; or replay only the rows of one stream')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection, one after the other')
    .option('--stream <stream>', 'rebuild the rows of this stream in place; releases a parked stream')
    .option(ACCEPT, 'switch although rows differ; the reason is recorded')
    .addHelpText(
      'after',
      `
When the rows differ, the command does not switch, and keeps the version for ops projections status.

After a restore of an event store that is older than PostgreSQL, --all first moves every checkpoint back to the last
event that both have. Rows of lost events differ: add --accept-differences.`,
    )
    .action(async (name: string | undefined, options: Accepting & { stream?: string }, command: Command) => {
      const chosen = chosenProjections(name, options);
      const { stream } = options;
      if (stream !== undefined) {
        if (chosen.length > 1) throw new OpsError('--stream requires the name of one projection.');
        const done = await withWorkshop((workshop) => replayStream(workshop, chosen[0]!, stream));
        print(command, done, `Replayed ${done.events} events of ${done.streams.join(' and ')}`);
        return;
      }
      const replayed = await withWorkshop(async (workshop, { actor }) => {
        if (options.all && (await rejoinLog(workshop.pool, workshop.store)) > 0)
          // Versions that were begun have rows of the lost events.
          for (const one of chosen) await dropVersions(workshop, one, { unfinished: true });
        return forEach(chosen, (one) => replay(workshop, one, request(actor, options)));
      });
      const text = tableOf(replayed, {
        ...BUILT_COLUMNS,
        differences: 'differences',
        '': ({ switched }) => (switched ? 'switched' : 'NOT switched'),
      });
      const isLeft = replayed.some(({ switched }) => !switched);
      print(command, { replayed }, text, isLeft);
    });
};

/** @throws OpsError when there is no projection of this name */
const requireProjection = (name: string): Projection => {
  const found = PROJECTIONS.find((projection) => projection.name === name);
  if (found) return found;
  const known = PROJECTIONS.map((projection) => projection.name).join(', ');
  throw new OpsError(`There is no projection ${name}. Known projections: ${known}.`);
};

interface Chosen {
  readonly all?: true;
}

/** The named projection, or all. @throws OpsError unless exactly one of the two was given */
const chosenProjections = (name: string | undefined, { all }: Chosen): readonly Projection[] => {
  if ((name === undefined) === (all === undefined))
    throw new OpsError(
      'Choose either a projection by name or --all. ops projections status shows the names.',
    );
  return name === undefined ? PROJECTIONS : [requireProjection(name)];
};

/** A rebuild's lock, the paused live view, the new version, a snapshot, the lock of a restore, and a spare one. */
const CONNECTIONS = 6;
const silent = { warn: () => undefined, error: () => undefined };

/** Like `withSession`, with what a rebuild needs. @throws OpsError with the reasons when it is refused */
const withWorkshop = <T>(work: (workshop: Workshop, session: Session) => Promise<T>): Promise<T> =>
  withSession(async (session) => {
    // Only the owner of the tables may create, rename and drop versions.
    const pool = openPool(session.config.DATABASE_OWNER_URL ?? session.config.DATABASE_URL, {
      size: CONNECTIONS,
      applicationName: 'reading-service ops projections',
      onError: () => undefined,
      sessionSettings: REBUILDING_SESSION,
    });
    try {
      return await work({ pool, store: session.store, log: silent, program: programFingerprint() }, session);
    } catch (error) {
      if (error instanceof Refused) throw new OpsError(error.message);
      throw error;
    } finally {
      await pool.end();
    }
  });

/** Compiled when this runs compiled. */
const libraries = projectPath(import.meta.url.includes('/dist/') ? 'dist/libs' : 'libs');

/** SHA-256 in hex of all code of the libraries, since any helper may influence a row, and of their pinned dependencies. */
export const programFingerprint = (): string => {
  const hash = createHash('sha256').update(readFileSync(projectPath('package.json')));
  const files = readdirSync(libraries, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(js|ts)$/.test(name),
  );
  for (const name of files.toSorted()) hash.update(`\n${name}\n`).update(readFileSync(join(libraries, name)));
  return hash.digest('hex');
};

/** `12`, or `10000+` if there may be more. */
const eventsBehind = ({ events, atLeast }: ConsumerLag): string => `${events}${atLeast ? '+' : ''}`;

export const LAG_COLUMNS: Columns<ConsumerLag> = {
  consumer: 'consumer',
  status: 'status',
  position: 'position',
  'events behind': eventsBehind,
  'seconds behind': ({ seconds }) => seconds.toFixed(1),
  'parked streams': 'parkedStreams',
};

/** The versions of projections, each with the lag of the consumer that keeps its live rows. */
export const projectionStates = (
  pool: Session['pool'],
  lags: readonly ConsumerLag[],
  chosen: readonly Projection[] = PROJECTIONS,
) =>
  Promise.all(
    chosen.map(async (projection) => ({
      projection: projection.name,
      lag: lags.find(({ consumer }) => consumer === checkpointOf(projection)) ?? null,
      versions: await versionsOf(pool, projection),
    })),
  );

/** One row for each version. */
export const versionsIn = (states: Awaited<ReturnType<typeof projectionStates>>) =>
  states.flatMap(({ versions, ...state }) => versions.map((version) => ({ ...version, ...state })));

export const VERSION_COLUMNS: Columns<ReturnType<typeof versionsIn>[number]> = {
  projection: 'projection',
  version: ({ version }) => `v${version}`,
  state: ({ state, lag }) => (state === 'live' ? `live, ${lag?.status ?? 'never run'}` : state),
  position: 'position',
  behind: ({ state, lag }) => (state === 'live' && lag ? eventsBehind(lag) : ''),
  verified: ({ verifiedPosition, differences }) => {
    if (verifiedPosition === null) return '';
    return differences === 0 ? `equal at ${verifiedPosition}` : `${differences} rows differ`;
  },
  parked: 'parkedStreams',
};

/** Does the work for each projection, one after the other. */
const forEach = async <T extends object>(
  projections: readonly Projection[],
  work: (projection: Projection) => Promise<T>,
) => {
  const results: (T & { readonly projection: string })[] = [];
  for (const projection of projections)
    results.push({ projection: projection.name, ...(await work(projection)) });
  return results;
};

/** With --all, only projections that have a version under construction: the others have nothing to verify or switch. */
const underConstruction = async (
  { pool }: Workshop,
  projections: readonly Projection[],
): Promise<readonly Projection[]> => {
  if (projections.length === 1) return projections;
  const versions = await Promise.all(projections.map((projection) => versionsOf(pool, projection)));
  const found = projections.filter((_, index) => versions[index]!.some(({ state }) => state === 'building'));
  if (found.length === 0) throw new OpsError('No version of any projection is being built: rebuild first.');
  return found;
};

/** Steps of the progress bar. */
const PARTS = 1_000;

/** @returns the version, and how many events this run has handled */
const build = async (workshop: Workshop, projection: Projection) => {
  const startedAt = performance.now();
  const done = await withProgress(projection.name, (progress) =>
    rebuild(workshop, projection, {
      onProgress: ({ fraction }) => progress?.(Math.floor(fraction * PARTS), PARTS),
    }),
  );
  return { ...done, seconds: (performance.now() - startedAt) / 1_000 };
};

const BUILT_COLUMNS: Columns<Awaited<ReturnType<typeof build>> & { readonly projection: string }> = {
  projection: 'projection',
  version: ({ version }) => `v${version}`,
  events: 'events',
  seconds: ({ seconds }) => seconds.toFixed(1),
};

const describe = (verified: readonly Verification[]): readonly string[] => {
  const tables = verified.flatMap(({ version, position, tables: compared }) =>
    compared.map((one) => ({ ...one, version, position })),
  );
  return [
    tableOf(tables, {
      table: 'table',
      version: ({ version }) => `v${version}`,
      'at position': 'position',
      rows: 'rows',
      hash: 'hash',
      'rows of version': 'versionRows',
      'hash of version': 'versionHash',
      differences: 'differences',
    }),
    ...tables.flatMap(({ table: name, examples }) => examples.map((key) => `differs in ${name}: ${key}`)),
  ];
};

const ACCEPT = '--accept-differences <reason>';

interface Accepting extends Chosen {
  readonly acceptDifferences?: string;
}

const request = (by: string, { acceptDifferences }: Accepting) =>
  acceptDifferences === undefined ? { by } : { by, acceptDifferences };

const replay = async (workshop: Workshop, projection: Projection, by: ReturnType<typeof request>) => {
  const built = await build(workshop, projection);
  const { tables, equal } = await verify(workshop, projection);
  const differences = tables.reduce((sum, one) => sum + one.differences, 0);
  const switched = equal || 'acceptDifferences' in by;
  if (switched) {
    await switchVersion(workshop, projection, by);
    await dropVersions(workshop, projection, { unfinished: false });
  }
  return { ...built, differences, switched };
};

export const commands = { projections: addProjectionsCommands };
