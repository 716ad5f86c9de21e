import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writePrivateFile, writePrivateJson } from '../../../embedded/src/data-folder.js';
import { OpsError } from '../output.js';
import { syncPath, type ErasedReading } from './manifest.js';

/** Names the installation of a mirror, and the readings that were erased by the time of its last update. */
const NOTE = 'mirror.json';
const KEYS = 'keys';

const note = z.strictObject({
  format: z.literal('reading-service-keys/1'),
  installation: z.string(),
  updatedAt: z.string(),
  /** Ids only: they name nobody. */
  erased: z.array(z.strictObject({ readingId: z.string(), workspaceId: z.string() })),
});
export type MirrorNote = z.infer<typeof note>;

export interface KeySources {
  /** The folder of the epochs' keys; `null` when a KMS has them. */
  readonly keyDirectory: string | null;
  /** The embedded stack's own secrets; servers have theirs in a secret store. */
  readonly secretsFile: string | null;
}

/** @throws OpsError when there is no mirror, or it is another installation's */
export const readMirror = (folder: string, installation: string): MirrorNote => {
  const { success, data } = note.safeParse(readJson(join(folder, NOTE)));
  if (!success) throw new OpsError(`${folder} is no mirror of keys: it has no valid ${NOTE}.`);
  if (data.installation !== installation)
    throw new OpsError(`The keys in ${folder} belong to another installation than the backup.`);
  return data;
};

/** @returns `null` when the folder is empty or missing @throws as {@link readMirror} for any other content */
export const findMirror = (folder: string, installation: string): MirrorNote | null =>
  existsSync(folder) && readdirSync(folder).length > 0 ? readMirror(folder, installation) : null;

/**
 * Lists what a restore knows, so that a repeated one and `erase-again` know it too. What was erased after the last update is
 * still unknown.
 * @param since RFC 3339; the time of that update for a new list
 */
export const recordErased = (
  folder: string,
  installation: string,
  erased: readonly ErasedReading[],
  since: string,
): void => {
  const known = findMirror(folder, installation);
  const idsOf = (readings: readonly ErasedReading[]) => readings.map(({ readingId }) => readingId).join();
  if (idsOf(known?.erased ?? []) === idsOf(sorted(erased))) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeNote(folder, installation, erased, known?.updatedAt ?? since);
  } catch (error) {
    throw new OpsError(
      `${folder} must list ${erased.length} erased readings before the restore, and cannot be written: ${(error as Error).message}.`,
    );
  }
};

/** Each reading once; the later entry of two stands. */
export const mergedReadings = (...lists: readonly (readonly ErasedReading[])[]): readonly ErasedReading[] => [
  ...new Map(lists.flat().map((one) => [one.readingId, one])).values(),
];

const sorted = (readings: readonly ErasedReading[]): ErasedReading[] =>
  readings.toSorted((one, other) => (one.readingId < other.readingId ? -1 : 1));

const writeNote = (
  folder: string,
  installation: string,
  erased: readonly ErasedReading[],
  updatedAt: string,
): void => {
  const format = 'reading-service-keys/1';
  const value: MirrorNote = { format, installation, updatedAt, erased: sorted(erased) };
  writePrivateJson(join(folder, NOTE), value);
  syncPath(folder);
};

/**
 * Makes a folder the mirror of the present keys. What the service has destroyed is destroyed there too, because an old
 * key would open what an erasure closed. A key that is only absent here stays: the folder may be unmounted. One that is
 * here stays too, unless the folder itself marks it: a key may have been declared lost by mistake. An erased reading stays
 * listed, unless the log proves that a bad event listed it.
 * @param destroyed epochs whose keys PostgreSQL records as destroyed; the folder itself marks them too
 * @param notErased ids of readings that only a bad event calls erased
 * @returns epochs of `destroyed` whose keys are here, and mirrored
 * @throws OpsError when the folder has something else
 */
export const mirrorKeys = (
  folder: string,
  installation: string,
  { keyDirectory, secretsFile, destroyed = [] }: KeySources & { readonly destroyed?: readonly string[] },
  erased: readonly ErasedReading[],
  notErased: readonly string[] = [],
): readonly string[] => {
  const known = findMirror(folder, installation)?.erased ?? [];
  const listed = mergedReadings(known, erased).filter(({ readingId }) => !notErased.includes(readingId));
  const folders = keyDirectory === null ? [folder] : [folder, join(folder, KEYS)];
  for (const path of folders) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
  }
  if (secretsFile !== null) writePrivateFile(join(folder, 'secrets.json'), readFileSync(secretsFile));
  writeNote(folder, installation, listed, new Date().toISOString());
  return keyDirectory === null ? [] : mirrorFolder(keyDirectory, join(folder, KEYS), destroyed);
};

/** Drafts are not mirrored: they may hold a key that is destroyed under its name. */
const MIRRORED = /[.](key|destroyed)$/;

const mirrorFolder = (from: string, to: string, destroyed: readonly string[]): readonly string[] => {
  const names = existsSync(from) ? readdirSync(from).filter((name) => MIRRORED.test(name)) : [];
  for (const name of names) {
    // A key may be destroyed at this moment.
    const bytes = readIfThere(join(from, name));
    if (bytes) writePrivateFile(join(to, name), bytes);
  }
  // What the service destroys, it marks in its folder first. PostgreSQL alone proves nothing while the key is there.
  const isMarked = (epoch: string): boolean =>
    [from, to].some((one) => existsSync(join(one, `${epoch}.destroyed`)));
  const kept = destroyed.filter((epoch) => names.includes(`${epoch}.key`) && !isMarked(epoch));
  const gone = destroyed.filter((epoch) => !kept.includes(epoch));
  for (const name of readdirSync(to)) {
    const [epoch = '', kind] = name.split('.');
    if (!MIRRORED.test(name) || (kind === 'key' && (isMarked(epoch) || gone.includes(epoch))))
      shred(join(to, name));
  }
  syncPath(to);
  return kept;
};

/** Puts mirrored keys and secrets back. The targets must not exist, or be empty. */
export const restoreKeys = (folder: string, { keyDirectory, secretsFile }: KeySources): void => {
  if (secretsFile !== null) {
    const secrets = readIfThere(join(folder, 'secrets.json'));
    if (!secrets)
      throw new OpsError(
        `${join(folder, 'secrets.json')} is missing: without it there are not the secrets of an embedded stack.`,
      );
    writePrivateFile(secretsFile, secrets);
  }
  if (keyDirectory === null) return;
  if (!existsSync(join(folder, KEYS))) throw new OpsError(`${folder} lists erasures, and has no keys.`);
  mkdirSync(keyDirectory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(join(folder, KEYS)))
    writePrivateFile(join(keyDirectory, name), readFileSync(join(folder, KEYS, name)));
  syncPath(keyDirectory);
};

const readIfThere = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const shred = (path: string): void => {
  writeFileSync(path, randomBytes(Math.max(statSync(path).size, 1)), { flag: 'r+' });
  syncPath(path);
  unlinkSync(path);
};
