import type { Command } from 'commander';
import { join, resolve } from 'node:path';
import { dataDirOf } from '../../../embedded/src/data-folder.js';
import type { Manifest } from '../backup/manifest.js';
import type { MirrorNote } from '../backup/keys-mirror.js';
import { readConnection } from '../connection.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { listBeside } from './backup/options.js';
import { planText, restoredText, type Restored, type RestorePlan } from './restore-text.js';

interface Options {
  readonly from: string;
  readonly keys?: string;
  readonly withoutKeys?: true;
  readonly erased?: string;
  readonly eventStoreData?: string;
  readonly eventStoreIndex?: string;
  readonly eventStoreCommand?: string;
  readonly replace?: boolean;
  readonly dryRun?: true;
}

const HELP = `
Stop the service first. The embedded stack is restored to DATA_DIR; it appears there when it is complete. With
DATABASE_URL set, the backup is loaded into that database (as DATABASE_OWNER_URL) and the data folder of a stopped
EventStoreDB node.

Readings that were erased after the backup stay erased: the mirror of keys lists them, or the folder erased beside the
backups, and so does the old data.

Examples:
  ops restore --from /backups/2026-11-20 --keys /keys-mirror --dry-run
  DATA_DIR=/srv/reading ops restore --from /backups/2026-11-20 --keys /keys-mirror --replace
  ops restore --from /backups/2026-11-20 --without-keys --event-store-data /var/lib/eventstore`;

export const addRestoreCommand = (restore: Command): void => {
  restore
    .requiredOption('--from <folder>', 'the backup')
    .option('--keys <folder>', 'the mirror of keys')
    .option('--without-keys', 'servers: the keys are where the service looks for them')
    .option(
      '--erased <folder>',
      'without keys: the mirror that lists erased readings; default: erased beside the backup',
    )
    .option('--event-store-data <folder>', 'servers: the empty data folder of a stopped EventStoreDB node')
    .option('--event-store-index <folder>', 'servers: its index folder; default: index in its data folder')
    .option('--event-store-command <command>', 'servers: a command that restores the event store')
    .option('--replace', 'replace existing data; the embedded stack’s is kept beside the new')
    .option('--dry-run', 'show what would be restored and what is in the way, and change nothing')
    .addHelpText('after', HELP)
    .action(async (options: Options, command: Command) => {
      const from = resolve(options.from);
      const manifest = await soundManifest(from);
      const list = await erasedList(options, manifest);
      const restored = process.env['DATABASE_URL']
        ? await onServers(from, manifest, options, list)
        : await onEmbedded(from, manifest, options, list);
      const { takenAt } = manifest.postgres;
      if ('inTheWay' in restored) {
        print(
          command,
          { outcome: 'not_restored', takenAt, ...restored },
          planText(takenAt, restored).join('\n'),
        );
        if (restored.inTheWay.length > 0) process.exitCode = 1;
        return;
      }
      print(
        command,
        { outcome: 'restored', takenAt, ...restored },
        restoredText(takenAt, restored, list.folder).join('\n'),
      );
    });
};

/** @throws OpsError when the backup is damaged, or a newer program took it */
const soundManifest = async (from: string): Promise<Manifest> => {
  const [{ damagedFiles, readManifest }, { unknownMigrations }] = await Promise.all([
    import('../backup/manifest.js'),
    import('../backup/load-tables.js'),
  ]);
  const manifest = readManifest(from);
  const newer = unknownMigrations(manifest);
  if (newer.length > 0)
    throw new OpsError(
      `The backup has a newer schema than this program (${newer[0]}): restore it with version ${manifest.program} or newer.`,
    );
  const [first, ...more] = damagedFiles(from, manifest);
  if (first !== undefined)
    throw new OpsError(
      `The backup is damaged: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ''}`,
    );
  return manifest;
};

interface ErasedList {
  readonly folder: string;
  /** `null` when there is no list yet. */
  readonly note: MirrorNote | null;
}

const erasedList = async (
  { from, keys, withoutKeys, erased }: Options,
  { installation }: Manifest,
): Promise<ErasedList> => {
  if ((keys === undefined) === (withoutKeys === undefined))
    throw new OpsError('Name the mirror of keys with --keys, or say --without-keys if they are in place.');
  if (keys !== undefined && erased !== undefined)
    throw new OpsError('The mirror of keys lists erased readings: leave --erased out.');
  const { findMirror, readMirror } = await import('../backup/keys-mirror.js');
  const named = keys ?? erased;
  if (named === undefined) {
    const folder = listBeside(from);
    return { folder, note: findMirror(folder, installation) };
  }
  const folder = resolve(named);
  return { folder, note: readMirror(folder, installation) };
};

const onEmbedded = async (
  from: string,
  manifest: Manifest,
  { keys, replace = false, dryRun }: Options,
  { folder, note }: ErasedList,
): Promise<Restored | RestorePlan> => {
  if (manifest.stores !== 'embedded')
    throw new OpsError('This backup is of servers: set DATABASE_URL and DATABASE_OWNER_URL to restore it.');
  if (keys === undefined || !note)
    throw new OpsError('The embedded stack needs its secrets: name the mirror of keys with --keys.');
  const { embeddedObstacles, placeOf, restoreEmbedded } = await import('../backup/restore-embedded.js');
  const dataDir = dataDirOf(process.env);
  if (dryRun)
    return {
      events: manifest.eventStore.log.events,
      targets: [placeOf(dataDir)],
      replace,
      staysErased: note.erased.length,
      inTheWay: embeddedObstacles(dataDir, replace),
    };
  const restored = await restoreEmbedded(from, manifest, { folder, erased: note.erased }, dataDir, replace);
  return { ...restored, listedUntil: note.updatedAt };
};

const onServers = async (
  from: string,
  manifest: Manifest,
  options: Options,
  { folder, note }: ErasedList,
): Promise<Restored | RestorePlan> => {
  if (manifest.stores !== 'servers')
    throw new OpsError('This backup is of an embedded stack: unset DATABASE_URL and set DATA_DIR.');
  const { restoreServers, serverObstacles } = await import('../backup/restore-servers.js');
  const { eventStoreData, eventStoreIndex, eventStoreCommand, keys, replace = false } = options;
  const db = eventStoreData === undefined ? null : resolve(eventStoreData);
  const config = readConnection(process.env);
  const plan = {
    config,
    node: db === null ? null : { db, index: resolve(eventStoreIndex ?? join(db, 'index')) },
    command: eventStoreCommand ?? null,
    keys: keys === undefined ? null : resolve(keys),
    list: { folder, erased: note?.erased ?? [] },
    replace,
  };
  if (options.dryRun)
    return {
      events: manifest.eventStore.log.events,
      targets: [
        `database ${new URL(config.DATABASE_URL).pathname.slice(1)}`,
        ...(plan.node ? [plan.node.db] : []),
        ...(plan.command === null ? [] : ['event store, by the command']),
        ...(plan.keys !== null && config.KEY_DIRECTORY ? [resolve(config.KEY_DIRECTORY)] : []),
      ],
      replace,
      staysErased: plan.list.erased.length,
      inTheWay: await serverObstacles(plan, manifest),
    };
  const { keptOut, erased, isReplacedNewer } = await restoreServers(from, manifest, plan);
  const listedUntil = note?.updatedAt ?? manifest.postgres.takenAt;
  return { aside: null, keptOut, erased, previousLogRead: isReplacedNewer, listedUntil };
};
