import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { MonthManifest } from '#billing/contracts/index.js';
import { OpsError } from '../../ops-error.js';

type Files = ReadonlyMap<string, Uint8Array>;

/**
 * Writes a month: month.json and its signature last, the archive after them. What is there is complete. Somebody may
 * rely on a signed month, so a different one does not take its place.
 * @param packed the files as `packMonth` gives them
 * @param replace replaces a different month
 * @throws OpsError when a different month is there; it stays as it is
 */
export const writeMonth = (
  out: string,
  period: string,
  files: Files,
  packed: Buffer,
  replace: boolean,
): { readonly folder: string; readonly archive: string } => {
  const [folder, archive] = [join(out, period), join(out, `ledger-${period}.tar.gz`)];
  if (!replace) requireSame(folder, archive, files, packed);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of ['month.json', 'month.sig']) rmSync(join(folder, name), { force: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
  writeFileSync(`${archive}.part`, gzipSync(packed), { mode: 0o600 });
  renameSync(`${archive}.part`, archive);
  return { folder, archive };
};

/** An archive (tar). The same files give the same bytes: they belong to nobody, and all have one time. */
export const packMonth = (period: string, files: Files): Promise<Buffer> => {
  const archive = pack();
  for (const [name, bytes] of files)
    archive.entry(
      { name: `${period}/${name}`, mode: 0o600, mtime: new Date(`${period}-01`) },
      Buffer.from(bytes),
    );
  archive.finalize();
  return buffer(archive);
};

const requireSame = (folder: string, archive: string, files: Files, packed: Buffer): void => {
  const signed = join(folder, 'month.json');
  if (existsSync(signed)) {
    const before = readFileSync(signed);
    const now = Buffer.from(files.get('month.json')!);
    if (!before.equals(now)) throw different(folder, ` in ${differences(before, now).join(', ')}`);
  } else if (existsSync(archive) && !gunzipSync(readFileSync(archive)).equals(packed))
    throw different(archive, '');
};

const different = (path: string, where: string): OpsError =>
  new OpsError(
    `${path} has a signed month that differs from this one${where}. Nothing was written. Choose another folder, or --replace it.`,
  );

/** Files and statements of month.json that differ. */
const differences = (before: Buffer, now: Buffer): readonly string[] => {
  const [old, fresh] = [before, now].map((json) => JSON.parse(json.toString()) as MonthManifest);
  const names = new Set([...Object.keys(old!.files), ...Object.keys(fresh!.files)]);
  const files = [...names].filter((name) => old!.files[name] !== fresh!.files[name]);
  const own = (['format', 'publicKeySha256'] as const).filter((name) => old![name] !== fresh![name]);
  return files.length + own.length > 0 ? [...files, ...own] : ['month.json'];
};
