import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeOrShow, isOpaque, selectEvents } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { isUuid } from '#platform/text/uuid.js';
import { readingEvents } from '#readings/contracts/index.js';
import { OpsError } from '../output.js';
import {
  describeFile,
  syncPath,
  type BackupFile,
  type ErasedReading,
  type LogFingerprint,
} from './manifest.js';

/** Where an EventStoreDB node keeps its data. */
export interface NodeFolders {
  /** Setting `Db`: chunks and checkpoints. */
  readonly db: string;
  /** Setting `Index`; by default the folder `index` below `db`. */
  readonly index: string;
}

/** Below the backup's folder. */
const DB = join('event-store', 'db');
const INDEX = join('event-store', 'index');

const CHASER = 'chaser.chk';
const CATCH_UP_MS = 30_000;
const POLL_MS = 200;

/** Names of files in a folder and below, as relative paths; none when it does not exist. */
export const filesBelow = (folder: string, recursive = true): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .toSorted()
    : [];

const isCheckpoint = (name: string): boolean => name.endsWith('.chk');
/** A file that the node is still writing, or wrote while scavenging. */
const isTemporary = (name: string): boolean =>
  /(\.tmp|\.bak)$|(^|\/)(lost\+found|.*\.scavenge\..*)$/.test(name);

const copyOne = (from: string, to: string): void => {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  copyFileSync(from, to);
  chmodSync(to, 0o600);
  syncPath(to);
};

/**
 * Copies the files of a running EventStoreDB node in the order of its manual, so that a later file has at least what an
 * earlier one points to: https://developers.eventstore.com/server/v21.10/operations/database-backup.html
 * @param end position of an event that the copy must contain @throws OpsError when the node does not catch up with it
 */
export const copyNode = async (
  { db, index }: NodeFolders,
  backup: string,
  end: bigint | null,
  onFile: (done: number, total: number) => void,
): Promise<readonly BackupFile[]> => {
  if (!existsSync(join(db, CHASER)))
    throw new OpsError(`${db} is no data folder of EventStoreDB: it has no ${CHASER}.`);
  await caughtUp(db, end);
  const indexFiles = filesBelow(index).filter((name) => !isTemporary(name));
  const steps: readonly (readonly [from: string, to: string, names: () => readonly string[]])[] = [
    [index, INDEX, () => indexFiles.filter(isCheckpoint)],
    [index, INDEX, () => indexFiles.filter((name) => !isCheckpoint(name))],
    [db, DB, () => filesBelow(db, false).filter(isCheckpoint)],
    [db, DB, () => newestChunks(filesBelow(db, false))],
  ];
  const copied: BackupFile[] = [];
  for (const [from, to, names] of steps) {
    const wanted = names();
    for (const name of wanted) {
      copyOne(join(from, name), join(backup, to, name));
      copied.push(describeFile(backup, join(to, name)));
      onFile(copied.length, copied.length + wanted.length);
    }
  }
  return copied;
};

/** `chunk-<number>.<version>`: a scavenge writes a new version, which replaces the older ones. */
const newestChunks = (names: readonly string[]): readonly string[] => {
  const chunks = names.filter((name) => /^chunk-\d+\.\d+$/.test(name));
  // In the order of their names, so that the newest version of a number comes last.
  return [...new Map(chunks.map((name) => [name.split('.')[0], name])).values()];
};

/** A follower may lag behind the leader that the consumers read from. */
const caughtUp = async (db: string, end: bigint | null): Promise<void> => {
  const deadline = Date.now() + CATCH_UP_MS;
  while (end !== null && checkpointIn(db) <= end) {
    if (Date.now() > deadline)
      throw new OpsError(`The node at ${db} is behind the cluster: back up another one, or wait.`);
    await delay(POLL_MS);
  }
};

/** Up to where the node has read its own log. */
const checkpointIn = (db: string): bigint => readFileSync(join(db, CHASER)).readBigInt64LE(0);

/**
 * Checkpoints come last, so that an interrupted copy starts no node; that of the chaser is where the node truncates its
 * log. @throws OpsError unless both folders are empty
 */
export const restoreNode = ({ db, index }: NodeFolders, backup: string): void => {
  requireEmpty(db, index);
  for (const [from, to] of [
    [INDEX, index],
    [DB, db],
  ] as const) {
    const names = filesBelow(join(backup, from)).filter((name) => name !== 'truncate.chk');
    for (const name of names.filter((one) => !isCheckpoint(one)))
      copyOne(join(backup, from, name), join(to, name));
    for (const name of names.filter(isCheckpoint))
      copyOne(join(backup, from, name), join(to, `${name}.restoring`));
  }
  copyOne(join(backup, DB, CHASER), join(db, 'truncate.chk.restoring'));
  for (const folder of [index, db]) {
    for (const name of filesBelow(folder).filter((one) => one.endsWith('.chk.restoring')))
      renameSync(join(folder, name), join(folder, name.slice(0, -'.restoring'.length)));
    if (existsSync(folder)) syncPath(folder);
  }
};

/** Runs the operator's own command for the event store with `BACKUP_DIR`. @throws OpsError when it fails */
export const runForLog = (command: string, folder: string, whatNow = ''): void => {
  const { status, signal } = spawnSync('/bin/sh', ['-c', command], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, BACKUP_DIR: folder },
  });
  if (status !== 0)
    throw new OpsError(
      `The command for the event store failed (${signal ?? `exit code ${status}`}).${whatNow}`,
    );
};

/** @throws OpsError when one of the folders has files */
export const requireEmpty = (...folders: readonly string[]): void => {
  for (const folder of folders) {
    const [first] = filesBelow(folder);
    if (first !== undefined)
      throw new OpsError(`${folder} is not empty (${first}): stop the node, and move its files away first.`);
  }
};

const ERASURES = selectEvents(readingEvents, 'ReadingErased');

/** The erased readings of a log, by id; `null`: only an event that cannot be read, or is set aside, says so. */
export class Erasures extends Map<string, ErasedReading | null> {
  /** @returns the reading that it erases, the first time; nobody in a stream that no reading has */
  see(event: StoredEvent): ErasedReading | null {
    const [, readingId = ''] = /^reading-(.+)$/.exec(event.stream) ?? [];
    if (event.type !== 'ReadingErased' || !isUuid(readingId) || this.get(readingId)) return null;
    const isBad = isOpaque(decodeOrShow(ERASURES, event));
    const reading = isBad ? null : { readingId, workspaceId: event.metadata.workspaceId };
    this.set(readingId, reading);
    return reading;
  }

  get erased(): readonly ErasedReading[] {
    return [...this.values()].filter((reading) => reading !== null);
  }

  get notErased(): readonly string[] {
    return [...this].flatMap(([readingId, reading]) => (reading === null ? [readingId] : []));
  }
}

/** Events between two progress reports. */
const STEP = 1_000;

/**
 * @param end position of the last event to read; `null` reads nothing
 * @returns its fingerprint, the readings that it says are erased, and the ids of those that only a bad event calls so: it
 * cannot be read, or is set aside
 */
export const readLog = async (
  store: EventStore,
  end: bigint | null,
  onProgress: (done: number, total: number) => void = () => undefined,
) => {
  const hash = createHash('sha256');
  const erasures = new Erasures();
  let events = 0;
  let last: bigint | null = null;
  for await (const event of end === null ? [] : store.readAll()) {
    if (event.position > end!) break;
    const { stream, revision, position, id, type, data, metadata } = event;
    const lines = [stream, revision, position, id, type, JSON.stringify(data), JSON.stringify(metadata)];
    hash.update(`${lines.join('\n')}\n`);
    erasures.see(event);
    events += 1;
    last = position;
    if (events % STEP === 0) onProgress(Number(position), Number(end));
  }
  return {
    log: {
      events,
      lastPosition: last === null ? null : String(last),
      sha256: hash.digest('hex'),
    } satisfies LogFingerprint,
    erased: erasures.erased,
    notErased: erasures.notErased,
  };
};
export type LogContents = Awaited<ReturnType<typeof readLog>>;
