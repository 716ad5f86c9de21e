import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writePrivateJson } from '../../../embedded/src/data-folder.js';
import { OpsError } from '../output.js';

/** Whether the file system, or PostgreSQL on it, has no room left. */
export const isDiskFull = (error: unknown): boolean => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device/i.test(message);
};

/** A reading that was erased after the backup, or before another one. */
export interface ErasedReading {
  readonly readingId: string;
  readonly workspaceId: string;
}

/** A file of the backup. `path` is relative to its folder; `sha256` is lowercase hex. */
const file = z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string() });
export type BackupFile = z.infer<typeof file>;

/** A table as text rows of `COPY`, gzipped. `sha256` covers the rows before compression. */
const table = z.strictObject({
  name: z.string(),
  columns: z.array(z.string()),
  rows: z.int(),
  sha256: z.string(),
  file,
});
export type TableCopy = z.infer<typeof table>;

/** What the log contains up to `lastPosition`, as a client reads it. */
const log = z.strictObject({
  events: z.int(),
  /** Position of the last event; `null` for an empty log. */
  lastPosition: z.string().nullable(),
  /** Over every event of the service: stream, revision, position, id, type, data and metadata. */
  sha256: z.string(),
});
export type LogFingerprint = z.infer<typeof log>;

/** A backup is whole if and only if its folder has this file: it is written last. */
const manifest = z.strictObject({
  format: z.literal('reading-service-backup/1'),
  /** Tells backups of one installation, and its mirror of keys, from those of another. */
  installation: z.string(),
  /** Version of the program that took it. */
  program: z.string(),
  stores: z.enum(['embedded', 'servers']),
  postgres: z.strictObject({
    version: z.string(),
    /** RFC 3339, by PostgreSQL's clock: the instant of the snapshot. */
    takenAt: z.string(),
    /** Names of the applied migrations, by library. */
    migrations: z.record(z.string(), z.array(z.string())),
    /** Number of the last migration of the job tables. */
    jobs: z.int(),
    tables: z.array(table),
    /** RFC 3339: when the oldest settled delivery was settled; `null` without one. */
    settledSince: z.string().nullable(),
    sequences: z.array(z.strictObject({ name: z.string(), value: z.string(), isCalled: z.boolean() })),
    /** The furthest position that a consumer has handled. */
    furthestCheckpoint: z.string().nullable(),
  }),
  eventStore: z.strictObject({
    /** `files`: a data folder, here. `command`: wherever the operator's own command put it. */
    kind: z.enum(['embedded', 'files', 'command']),
    files: z.array(file),
    log,
  }),
});
export type Manifest = z.infer<typeof manifest>;

const MANIFEST = 'manifest.json';
const CHUNK_BYTES = 1 << 20;

/** Writes the manifest so that it exists whole or not at all. */
export const writeManifest = (folder: string, value: Manifest): void => {
  writePrivateJson(join(folder, MANIFEST), value);
  syncPath(folder);
};

/** @throws OpsError when the folder has no whole backup, or one of a newer program */
export const readManifest = (folder: string): Manifest => {
  const path = join(folder, MANIFEST);
  if (!existsSync(path))
    throw new OpsError(`${folder} has no ${MANIFEST}: it is no backup, or one that was interrupted.`);
  const parsed = manifest.safeParse(readJson(path));
  if (parsed.success) return parsed.data;
  throw new OpsError(`${path} is damaged, or was written by a newer program.`);
};

/** Makes a file or the names in a folder durable. */
export const syncPath = (path: string): void => {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** Size and SHA-256 of a file. */
export const describeFile = (folder: string, path: string): BackupFile => {
  const hash = createHash('sha256');
  const handle = openSync(join(folder, path), 'r');
  let bytes = 0;
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = readSync(handle, chunk); read > 0; read = readSync(handle, chunk)) {
      hash.update(chunk.subarray(0, read));
      bytes += read;
    }
  } finally {
    closeSync(handle);
  }
  return { path, bytes, sha256: hash.digest('hex') };
};

/** Files that are missing or differ from the manifest, a sentence each. */
export const damagedFiles = (folder: string, { postgres, eventStore }: Manifest): readonly string[] =>
  [...postgres.tables.map((copy) => copy.file), ...eventStore.files].flatMap(({ path, bytes, sha256 }) => {
    if (!existsSync(join(folder, path))) return [`${path} is missing.`];
    const found = describeFile(folder, path);
    if (found.bytes !== bytes) return [`${path} has ${found.bytes} bytes instead of ${bytes}.`];
    return found.sha256 === sha256 ? [] : [`${path} does not match its checksum.`];
  });
