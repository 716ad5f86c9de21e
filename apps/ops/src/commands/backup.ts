import type { Command } from 'commander';
import { join, resolve } from 'node:path';
import type { BackupPlan, LogSource } from '../backup/take-backup.js';
import { OpsError } from '../ops-error.js';
import { print, tell } from '../output.js';
import { withSession } from '../session.js';
import { dataDirOf } from '../../../embedded/src/data-folder.js';
import { byteSize, listBeside } from './backup/options.js';

interface Options {
  readonly to?: string;
  readonly keysTo?: string;
  readonly withoutKeys?: true;
  readonly erasedTo?: string;
  readonly eventStoreData?: string;
  readonly eventStoreIndex?: string;
  readonly eventStoreCommand?: string;
  readonly dryRun?: true;
}

const HELP = `
Takes PostgreSQL, then the event store, then the keys, while the service runs. Personal data in the backup is sealed; the
keys go to a mirror of their own, which holds only the present keys. Put it on another disk, and never beside backups.

Servers (DATABASE_URL is set) need one of:
  --event-store-data     the data folder of an EventStoreDB node, readable here
  --event-store-command  a shell command that copies or snapshots the node; it gets BACKUP_DIR

Examples:
  ops backup --to /backups/2026-11-20 --keys-to /keys-mirror
  ops backup --to /backups/2026-11-20 --without-keys --event-store-data /var/lib/eventstore
  ops backup verify /backups/2026-11-20`;

export const addBackupCommands = (backup: Command): void => {
  backup
    .option('--to <folder>', 'a new folder for the backup')
    .option('--keys-to <folder>', 'where to mirror the keys; never inside the backup')
    .option('--without-keys', 'the keys are mirrored by other means')
    .option(
      '--erased-to <folder>',
      'without keys: where to list erased readings; default: erased beside the backup',
    )
    .option('--event-store-data <folder>', 'servers: the data folder of an EventStoreDB node')
    .option('--event-store-index <folder>', 'servers: its index folder; default: index in its data folder')
    .option('--event-store-command <command>', 'servers: a command that backs up the event store')
    .option('--dry-run', 'check everything, and take nothing')
    .addHelpText('after', HELP)
    .action(async (options: Options, command: Command) => {
      const plan = planOf(options);
      const { checkBackup, takeBackup, unfinishedBeside } = await import('../backup/take-backup.js');
      const answer = await withSession(async (session) => {
        const { KEY_DIRECTORY } = session.config;
        const { to, from } = plan.mirror;
        const own = { ...plan, mirror: { to, from: from && keySources(KEY_DIRECTORY) } };
        if (!options.dryRun) return takeBackup(session, own);
        await checkBackup(session, own);
        return null;
      });
      const unfinished = unfinishedBeside(plan.to);
      if (unfinished.length > 0)
        tell(
          `Not finished, and no backups: ${unfinished.join(', ')}. Delete them when no backup is running.`,
        );
      if (!answer) {
        print(command, { to: plan.to, outcome: 'not_taken' }, `Would back up to ${plan.to}.`);
        return;
      }
      const { postgres, eventStore } = answer;
      const { events, lastPosition } = eventStore.log;
      const rows = postgres.tables.reduce((sum, table) => sum + table.rows, 0);
      const files = [...postgres.tables.map(({ file }) => file), ...eventStore.files];
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      const { to: mirror, from: keySource } = plan.mirror;
      const mirrored = `${keySource ? 'Keys mirrored to' : 'Erased readings listed in'} ${mirror}.`;
      print(
        command,
        { outcome: 'taken', to: plan.to, takenAt: postgres.takenAt, rows, events, lastPosition, bytes },
        `Backed up ${rows} rows and ${events} events to ${plan.to} (${byteSize(bytes)}). ${mirrored} Next: ops backup verify ${plan.to}`,
      );
    });
  addVerify(backup);
};

const planOf = (options: Options): BackupPlan => {
  const { to, keysTo, withoutKeys, erasedTo } = options;
  if (to === undefined) throw new OpsError('Name a new folder for the backup: --to.');
  if ((keysTo === undefined) === (withoutKeys === undefined))
    throw new OpsError(
      'Say where the keys go: --keys-to <folder>, or --without-keys if you mirror them by other means.',
    );
  if (keysTo !== undefined && erasedTo !== undefined)
    throw new OpsError('The mirror of keys lists erased readings: leave --erased-to out.');
  return {
    to: resolve(to),
    log: logSource(options),
    mirror:
      keysTo === undefined
        ? { to: erasedTo === undefined ? listBeside(to) : resolve(erasedTo), from: null }
        : { to: resolve(keysTo), from: keySources(undefined) },
  };
};

const isEmbedded = (): boolean => !process.env['DATABASE_URL'];

const logSource = ({ eventStoreData, eventStoreIndex, eventStoreCommand }: Options): LogSource => {
  if (isEmbedded()) {
    if (eventStoreData ?? eventStoreCommand)
      throw new OpsError('The embedded stack’s event store is in DATA_DIR: leave --event-store-… out.');
    return { kind: 'embedded', folder: join(dataDirOf(process.env), 'event-store') };
  }
  if ((eventStoreData === undefined) === (eventStoreCommand === undefined))
    throw new OpsError('Say how to copy the event store: --event-store-data or --event-store-command.');
  if (eventStoreCommand !== undefined) return { kind: 'command', command: eventStoreCommand };
  const db = resolve(eventStoreData!);
  return { kind: 'files', node: { db, index: resolve(eventStoreIndex ?? join(db, 'index')) } };
};

const keySources = (keyDirectory: string | undefined) => ({
  keyDirectory: keyDirectory === undefined ? null : resolve(keyDirectory),
  secretsFile: isEmbedded() ? join(dataDirOf(process.env), 'secrets.json') : null,
});

const addVerify = (backup: Command): void => {
  backup
    .command('verify <folder>')
    .description('restore a backup to a scratch folder and compare; exit code 1 on a difference')
    .option('--scratch-event-store <url>', 'servers: an EventStoreDB that serves the restored files')
    .addHelpText('after', '\nNeeds neither keys nor a running service. TMPDIR needs room for the backup.')
    .action(async (folder: string, options: { scratchEventStore?: string }, command: Command) => {
      const [{ readManifest }, { verifyBackup }] = await Promise.all([
        import('../backup/manifest.js'),
        import('../backup/verify-backup.js'),
      ]);
      const path = resolve(folder);
      const report = await verifyBackup(path, readManifest(path), options.scratchEventStore ?? null);
      const { findings, notCompared, tables, rows, events, projections } = report;
      const isSound = findings.length === 0;
      const compared = `${tables} tables with ${rows} rows, ${events} events, ${projections} read models`;
      const text = [
        isSound ? `The backup is sound: ${compared}.` : `The backup is damaged: ${findings.length} findings.`,
        ...findings,
        ...notCompared.map((what) => `Not compared: ${what}`),
      ];
      print(command, { sound: isSound, ...report }, text.join('\n'));
      if (!isSound) process.exitCode = 1;
    });
};
