import type { Command } from 'commander';
import { dirname, join, resolve } from 'node:path';
import { dataDirOf } from '../../../embedded/src/data-folder.js';
import type { NodeFolders } from '../backup/log.js';
import type { Manifest } from '../backup/manifest.js';
import type { MirrorNote } from '../backup/mirror.js';
import type { Restored } from '../backup/restore.js';
import type { BackupPlan, LogSource } from '../backup/take.js';
import { OpsError, print } from '../output.js';
import { readConnection, withSession } from '../session.js';
import { someText } from './options.js';

const isEmbedded = (): boolean => !process.env['DATABASE_URL'];

interface LogOptions {
  readonly eventStoreData?: string;
  readonly eventStoreIndex?: string;
  readonly eventStoreCommand?: string;
}

const addLogOptions = (command: Command, folder: string, does: string): Command =>
  command
    .option('--event-store-data <folder>', `servers: the ${folder}`, someText)
    .option('--event-store-index <folder>', 'servers: its index folder; default: index in it', someText)
    .option('--event-store-command <command>', `servers: a command that ${does} the event store`, someText);

const nodeOf = ({ eventStoreData, eventStoreIndex }: LogOptions): NodeFolders | null => {
  if (eventStoreData === undefined) return null;
  const db = resolve(eventStoreData);
  return { db, index: resolve(eventStoreIndex ?? join(db, 'index')) };
};

/** Where a backup without keys lists erased readings, by default. One list serves all backups beside it. */
const listBeside = (backup: string): string => join(dirname(resolve(backup)), 'erased');

interface BackupOptions extends LogOptions {
  readonly to?: string;
  readonly keysTo?: string;
  readonly withoutKeys?: true;
}

const BACKUP_HELP = `
Personal data in the backup is sealed; the keys go to a mirror of their own, which holds only the present keys. Put it on
another disk, and never beside backups. Servers need one of --event-store-data and --event-store-command, which gets
BACKUP_DIR.

Example:
  ops backup --to /backups/2026-11-20 --keys-to /keys-mirror`;

export const addBackupCommands = (backup: Command): void => {
  backup
    .option('--to <folder>', 'a new folder for the backup', someText)
    .option('--keys-to <folder>', 'where to mirror the keys; never inside the backup', someText)
    .option(
      '--without-keys',
      'the keys are mirrored by other means; erased readings are listed beside the backup',
    );
  addLogOptions(backup, 'data folder of an EventStoreDB node', 'backs up')
    .addHelpText('after', BACKUP_HELP)
    .action(async (options: BackupOptions, command: Command) => {
      const plan = planOf(options);
      const { takeBackup } = await import('../backup/take.js');
      const { postgres, eventStore } = await withSession((session) => takeBackup(session, plan));
      const { to, mirror } = plan;
      const { events, lastPosition } = eventStore.log;
      const rows = postgres.tables.reduce((sum, table) => sum + table.rows, 0);
      const files = [...postgres.tables.map(({ file }) => file), ...eventStore.files];
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      const mirrored = `${mirror.from ? 'Keys mirrored to' : 'Erased readings listed in'} ${mirror.to}.`;
      print(
        command,
        { outcome: 'taken', to, takenAt: postgres.takenAt, rows, events, lastPosition, bytes },
        `Backed up ${rows} rows and ${events} events to ${to} (${byteSize(bytes)}). ${mirrored} Next: ops backup verify ${to}`,
      );
    });
  backup
    .command('verify')
    .argument('<folder>', '', someText)
    .description('restore a backup to a scratch folder and compare; exit code 1 on a difference')
    .option('--scratch-event-store <url>', 'servers: an EventStoreDB that serves the restored files')
    .addHelpText('after', '\nNeeds neither keys nor a running service. TMPDIR needs room for the backup.')
    .action(async (folder: string, options: { scratchEventStore?: string }, command: Command) => {
      const { readManifest } = await import('../backup/manifest.js');
      const { verifyBackup } = await import('../backup/restore.js');
      const path = resolve(folder);
      const report = await verifyBackup(path, readManifest(path), options.scratchEventStore ?? null);
      const { findings, notCompared, tables, rows, events, projections } = report;
      const sound = findings.length === 0;
      const compared = `${tables} tables with ${rows} rows, ${events} events, ${projections} read models`;
      const text = [
        sound ? `The backup is sound: ${compared}.` : `The backup is damaged: ${findings.length} findings.`,
        ...findings,
        ...notCompared.map((what) => `Not compared: ${what}`),
      ];
      print(command, { sound, ...report }, text, !sound);
    });
};

const STEP = 1024;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes for people, such as `3.4 MiB`. */
const byteSize = (bytes: number): string => {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(STEP)), UNITS.length - 1);
  return `${(bytes / STEP ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
};

const planOf = (options: BackupOptions): BackupPlan => {
  const { to, keysTo, withoutKeys } = options;
  if (to === undefined) throw new OpsError('Name a new folder for the backup: --to.');
  if ((keysTo === undefined) === (withoutKeys === undefined))
    throw new OpsError(
      'Say where the keys go: --keys-to <folder>, or --without-keys if you mirror them by other means.',
    );
  return {
    to: resolve(to),
    log: logSource(options),
    mirror:
      keysTo === undefined ? { to: listBeside(to), from: null } : { to: resolve(keysTo), from: keySources() },
  };
};

const logSource = (options: LogOptions): LogSource => {
  const { eventStoreCommand: command } = options;
  const node = nodeOf(options);
  if (isEmbedded()) {
    if (node ?? command)
      throw new OpsError('The embedded stack’s event store is in DATA_DIR: leave --event-store-… out.');
    return { kind: 'embedded', folder: join(dataDirOf(process.env), 'event-store') };
  }
  if ((node === null) === (command === undefined))
    throw new OpsError('Say how to copy the event store: --event-store-data or --event-store-command.');
  return node ? { kind: 'files', node } : { kind: 'command', command: command! };
};

const keySources = () => {
  const { KEY_DIRECTORY } = readConnection(process.env);
  return {
    keyDirectory: KEY_DIRECTORY === undefined ? null : resolve(KEY_DIRECTORY),
    secretsFile: isEmbedded() ? join(dataDirOf(process.env), 'secrets.json') : null,
  };
};

interface RestoreOptions extends LogOptions {
  readonly from: string;
  readonly keys?: string;
  readonly withoutKeys?: true;
  readonly replace?: boolean;
}

const RESTORE_HELP = `
Stop the service first. All that is in the way is named before anything changes. The embedded stack is restored to DATA_DIR; it appears there when it is complete. With
DATABASE_URL set, the backup is loaded into that database (as DATABASE_OWNER_URL) and the data folder of a stopped
EventStoreDB node.

Example:
  ops restore --from /backups/2026-11-20 --keys /keys-mirror`;

export const addRestoreCommand = (restore: Command): void => {
  restore
    .requiredOption('--from <folder>', 'the backup', someText)
    .option('--keys <folder>', 'the mirror of keys', someText)
    .option('--without-keys', 'servers: the keys are where the service looks for them');
  addLogOptions(restore, 'empty data folder of a stopped EventStoreDB node', 'restores')
    .option('--replace', 'replace existing data; the embedded stack’s is kept beside the new')
    .addHelpText('after', RESTORE_HELP)
    .action(async (options: RestoreOptions, command: Command) => {
      const from = resolve(options.from);
      const manifest = await soundManifest(from);
      const list = await erasedList(options, manifest);
      const restored = await (isEmbedded() ? onEmbedded : onServers)(from, manifest, options, list);
      const { takenAt } = manifest.postgres;
      const listedUntil = list.note?.updatedAt ?? takenAt;
      const value = { outcome: 'restored', takenAt, ...restored, listedUntil };
      print(command, value, restoredText(takenAt, value, list.folder));
    });
};

/** @throws OpsError for a damaged backup, or one of a newer program */
const soundManifest = async (from: string): Promise<Manifest> => {
  const { damagedFiles, readManifest } = await import('../backup/manifest.js');
  const { unknownMigrations } = await import('../backup/tables.js');
  const manifest = readManifest(from);
  const newer = unknownMigrations(manifest);
  if (newer.length > 0)
    throw new OpsError(
      `The backup has a newer schema than this program (${newer[0]}): restore it with version ${manifest.program} or newer.`,
    );
  const [first, ...more] = damagedFiles(from, manifest);
  const others = more.length > 0 ? ` (and ${more.length} more)` : '';
  if (first !== undefined) throw new OpsError(`The backup is damaged: ${first}${others}`);
  return manifest;
};

interface FoundList {
  readonly folder: string;
  /** `null` when there is no list yet. */
  readonly note: MirrorNote | null;
}

const erasedList = async (
  { from, keys, withoutKeys }: RestoreOptions,
  { installation }: Manifest,
): Promise<FoundList> => {
  if ((keys === undefined) === (withoutKeys === undefined))
    throw new OpsError('Name the mirror of keys with --keys, or say --without-keys if they are in place.');
  const { findMirror, readMirror } = await import('../backup/mirror.js');
  const folder = keys === undefined ? listBeside(from) : resolve(keys);
  return { folder, note: (keys === undefined ? findMirror : readMirror)(folder, installation) };
};

const onEmbedded = async (
  from: string,
  manifest: Manifest,
  { keys, replace = false }: RestoreOptions,
  { folder, note }: FoundList,
): Promise<Restored> => {
  if (manifest.stores !== 'embedded')
    throw new OpsError('This backup is of servers: set DATABASE_URL and DATABASE_OWNER_URL to restore it.');
  if (keys === undefined || !note)
    throw new OpsError('The embedded stack needs its secrets: name the mirror of keys with --keys.');
  const { restoreEmbedded } = await import('../backup/restore.js');
  const list = { folder, erased: note.erased };
  return restoreEmbedded(from, manifest, list, dataDirOf(process.env), replace);
};

const onServers = async (
  from: string,
  manifest: Manifest,
  options: RestoreOptions,
  { folder, note }: FoundList,
): Promise<Restored> => {
  if (manifest.stores !== 'servers')
    throw new OpsError('This backup is of an embedded stack: unset DATABASE_URL and set DATA_DIR.');
  const { restoreServers } = await import('../backup/restore.js');
  const { eventStoreCommand: command = null, keys, replace = false } = options;
  return restoreServers(from, manifest, {
    config: readConnection(process.env),
    node: nodeOf(options),
    command,
    keys: keys === undefined ? null : resolve(keys),
    list: { folder, erased: note?.erased ?? [] },
    replace,
  });
};

/** @param list the folder that lists erased readings, complete until `listedUntil` */
const restoredText = (
  takenAt: string,
  { aside, previousLogRead, listedUntil, erased }: Restored & { readonly listedUntil: string },
  list: string,
): readonly string[] => {
  const steps = [
    'Start one worker without the role upkeep, and no API. Embedded: WORKER_ROLES=follow,jobs,webhooks npm start',
    'ops projections lag, until nothing is behind; ops doctor; ops ledger verify --all',
    ...(erased.length > 0
      ? [`ops readings erase-again --keys ${list} --yes: repeats ${erased.length} erasures in the log`]
      : []),
    'ops readings unreadable: what customers paid and cannot read; ops readings refund',
    'Revoke again API keys and operators who were revoked after the backup; delete endpoints and rotate secrets again.',
    'Restart API and workers as usual, and take a new backup.',
    ...(aside ? [`Delete ${aside} once all is checked: what is erased from now on stays in it.`] : []),
  ];
  return [
    `Restored the backup of ${takenAt}.`,
    ...(aside ? [`The data from before is in ${aside}.`] : []),
    ...(previousLogRead
      ? []
      : [
          `Erasures after ${listedUntil} are unknown: there was no data from before, or it could not be read. Those readings may have returned. Once the worker runs, erase each one that your records show: ops erase <readingId> --yes`,
        ]),
    'Next:',
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
  ];
};

export const commands = { backup: addBackupCommands, restore: addRestoreCommand };
