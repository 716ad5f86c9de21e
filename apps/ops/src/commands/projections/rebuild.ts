import type { Command } from 'commander';
import type { Projection } from '#event-sourcing/projections/projection.js';
import { rebuild } from '#event-sourcing/rebuilding/rebuild.js';
import { rejoinLog } from '#event-sourcing/rebuilding/rejoin-log.js';
import { replayStream } from '#event-sourcing/rebuilding/replay-stream.js';
import { switchVersion } from '#event-sourcing/rebuilding/switch.js';
import { verify, type Verification } from '#event-sourcing/rebuilding/verify.js';
import { dropVersions, versionsOf, type Workshop } from '#event-sourcing/rebuilding/versions.js';
import { OpsError } from '../../ops-error.js';
import { print, table } from '../../output.js';
import { withRebuildProgress } from './progress.js';
import { chosenProjections, withWorkshop, type Chosen } from './workshop.js';

const ACCEPT = '--accept-differences <reason>';

/** With --all, only projections that have a version under construction: the others have nothing to verify or switch. */
const underConstruction = async (
  { pool }: Workshop,
  projections: readonly Projection[],
): Promise<readonly Projection[]> => {
  if (projections.length === 1) return projections;
  const found: Projection[] = [];
  for (const projection of projections) {
    const versions = await versionsOf(pool, projection);
    if (versions.some(({ state }) => state === 'building')) found.push(projection);
  }
  if (found.length === 0) throw new OpsError('No version of any projection is being built: rebuild first.');
  return found;
};

export const addRebuild = (projections: Command): void => {
  projections
    .command('rebuild')
    .description(
      'fill a new version of the tables from the log; run it again to resume an interrupted rebuild',
    )
    .argument('[name]', 'the projection')
    .option('--all', 'every projection, one after the other')
    .addHelpText(
      'after',
      '\nExamples:\n  ops projections rebuild readings.reading.v1\n  ops projections rebuild --all --json',
    )
    .action(async (name: string | undefined, options: Chosen, command: Command) => {
      const chosen = chosenProjections(name, options);
      const built = await withWorkshop(async (workshop) => {
        const results: object[] = [];
        for (const projection of chosen)
          results.push({ projection: projection.name, ...(await build(workshop, projection)) });
        return results as Built[];
      });
      const rows = built.map(({ projection, version, events, seconds }) => [
        projection,
        `v${version}`,
        events,
        seconds.toFixed(1),
      ]);
      print(command, { rebuilt: built }, table(['projection', 'version', 'events', 'seconds'], rows));
    });
};

interface Built {
  readonly projection: string;
  readonly version: number;
  /** Handled by this run. */
  readonly events: number;
  readonly seconds: number;
}

const build = async (workshop: Workshop, projection: Projection): Promise<Omit<Built, 'projection'>> => {
  const startedAt = performance.now();
  const done = await withRebuildProgress(projection.name, (onProgress) =>
    rebuild(workshop, projection, onProgress ? { onProgress } : {}),
  );
  return { ...done, seconds: (performance.now() - startedAt) / 1_000 };
};

export const addVerify = (projections: Command): void => {
  projections
    .command('verify')
    .description(
      'compare the version being built with the live rows at one position; exit code 1 if they differ',
    )
    .argument('[name]', 'the projection')
    .option('--all', 'every projection that is being rebuilt')
    .addHelpText(
      'after',
      '\nExamples:\n  ops projections verify readings.reading.v1\n  ops projections verify --all --json',
    )
    .action(async (name: string | undefined, options: Chosen, command: Command) => {
      const chosen = chosenProjections(name, options);
      const verified = await withWorkshop(async (workshop) => {
        const results: Verified[] = [];
        for (const projection of await underConstruction(workshop, chosen))
          results.push({ projection: projection.name, ...(await verify(workshop, projection)) });
        return results;
      });
      print(command, { equal: verified.every(({ equal }) => equal), verified }, describe(verified));
      if (verified.some(({ equal }) => !equal)) process.exitCode = 1;
    });
};

type Verified = Verification & { readonly projection: string };

const describe = (verified: readonly Verified[]): string => {
  const tables = verified.flatMap(({ version, position, tables: compared }) =>
    compared.map((one) => ({ ...one, version, position })),
  );
  return [
    table(
      [
        'table',
        'version',
        'at position',
        'rows',
        'hash',
        'rows of version',
        'hash of version',
        'differences',
      ],
      tables.map((one) => [
        one.table,
        `v${one.version}`,
        String(one.position),
        one.rows,
        one.hash,
        one.versionRows,
        one.versionHash,
        one.differences,
      ]),
    ),
    ...tables.flatMap(({ table: name, examples }) => examples.map((key) => `differs in ${name}: ${key}`)),
  ].join('\n');
};

export const addSwitch = (projections: Command): void => {
  projections
    .command('switch')
    .description('replace the live version with the verified one, in one transaction')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection that is being rebuilt')
    .option(ACCEPT, 'switch although rows differ or were not compared; the reason is recorded')
    .addHelpText(
      'after',
      `
Refused when the version is not caught up, is not verified, differs or has parked events, or when the schema has changed.

Examples:
  ops projections switch readings.reading.v1
  ops projections switch readings.reading.v1 --accept-differences "the table was emptied by mistake"`,
    )
    .action(
      async (
        name: string | undefined,
        { acceptDifferences, ...options }: Chosen & { acceptDifferences?: string },
        command: Command,
      ) => {
        const chosen = chosenProjections(name, options);
        const switched = await withWorkshop(async (workshop, { actor }) => {
          const results: object[] = [];
          for (const projection of await underConstruction(workshop, chosen)) {
            const done = await switchVersion(workshop, projection, request(actor, acceptDifferences));
            results.push({ projection: projection.name, ...done });
          }
          return results as Switched[];
        });
        print(command, { switched }, switched.map(sentence).join('\n'));
      },
    );
};

interface Switched {
  readonly projection: string;
  readonly version: number;
  readonly retired: number;
  readonly position: bigint;
}

const request = (by: string, acceptDifferences: string | undefined) =>
  acceptDifferences === undefined ? { by } : { by, acceptDifferences };

const sentence = ({ projection, version, retired, position }: Switched): string =>
  `${projection} is v${version} from position ${position} on; v${retired} remains until ops projections drop ${projection}`;

export const addDrop = (projections: Command): void => {
  projections
    .command('drop')
    .description('delete the tables of replaced versions')
    .argument('[name]', 'the projection')
    .option('--all', 'every projection')
    .option('--unfinished', 'also drop the version being built')
    .addHelpText(
      'after',
      '\nExamples:\n  ops projections drop readings.reading.v1\n  ops projections drop --all --unfinished',
    )
    .action(
      async (
        name: string | undefined,
        { unfinished = false, ...options }: Chosen & { unfinished?: boolean },
        command: Command,
      ) => {
        const chosen = chosenProjections(name, options);
        const dropped = await withWorkshop(async (workshop) => {
          const results: { projection: string; versions: readonly number[] }[] = [];
          for (const projection of chosen) {
            const versions = await dropVersions(workshop, projection, { unfinished });
            results.push({ projection: projection.name, versions });
          }
          return results;
        });
        const text = dropped
          .filter(({ versions }) => versions.length > 0)
          .map(({ projection, versions }) => `${projection}: dropped v${versions.join(', v')}`);
        print(command, { dropped }, text.join('\n') || 'There was nothing to drop');
      },
    );
};

export const addReplay = (projections: Command): void => {
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
event that both have. Rows of lost events differ: add --accept-differences.

Examples:
  ops projections replay --all
  ops projections replay readings.reading.v1 --accept-differences "the table was emptied by mistake"
  ops projections replay readings.reading.v1 --stream reading-7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11`,
    )
    .action(
      async (
        name: string | undefined,
        { stream, acceptDifferences, ...options }: Chosen & { stream?: string; acceptDifferences?: string },
        command: Command,
      ) => {
        const chosen = chosenProjections(name, options);
        if (stream !== undefined) {
          if (chosen.length > 1) throw new OpsError('--stream requires the name of one projection.');
          const done = await withWorkshop((workshop) => replayStream(workshop, chosen[0]!, stream));
          print(command, done, `Replayed ${done.events} events of ${done.streams.join(' and ')}`);
          return;
        }
        const replayed = await withWorkshop(async (workshop, { actor }) => {
          const results: Replayed[] = [];
          if (options.all && (await rejoinLog(workshop.pool, workshop.store)) > 0)
            // Versions that were begun have rows of the lost events.
            for (const one of chosen) await dropVersions(workshop, one, { unfinished: true });
          for (const projection of chosen)
            results.push(await replay(workshop, projection, request(actor, acceptDifferences)));
          return results;
        });
        const rows = replayed.map((one) => [
          one.projection,
          `v${one.version}`,
          one.events,
          one.seconds.toFixed(1),
          one.differences,
          one.switched ? 'switched' : 'NOT switched',
        ]);
        const head = ['projection', 'version', 'events', 'seconds', 'differences', ''];
        print(command, { replayed }, table(head, rows));
        if (replayed.some(({ switched }) => !switched)) process.exitCode = 1;
      },
    );
};

interface Replayed extends Built {
  readonly differences: number;
  readonly switched: boolean;
}

const replay = async (
  workshop: Workshop,
  projection: Projection,
  by: ReturnType<typeof request>,
): Promise<Replayed> => {
  const built = await build(workshop, projection);
  const { tables, equal } = await verify(workshop, projection);
  const differences = tables.reduce((sum, one) => sum + one.differences, 0);
  const switched = equal || 'acceptDifferences' in by;
  if (switched) {
    await switchVersion(workshop, projection, by);
    await dropVersions(workshop, projection, { unfinished: false });
  }
  return { projection: projection.name, ...built, differences, switched };
};
