/**
 * Compiles the project into `dist/`. With --if-stale only when a source file is newer than the last build, and saying
 * nothing otherwise, so that `npm start` after an edit runs what was edited and after an installation starts at once.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');
const stamp = join(out, '.built');
const onlyIfStale = process.argv.includes('--if-stale');

const newest = (path) => {
  const stats = statSync(path);
  if (!stats.isDirectory()) return /\.(ts|json)$/.test(path) ? stats.mtimeMs : 0;
  // A published package is built in its own folder.
  const names = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules');
  return Math.max(0, ...names.map((name) => newest(join(path, name))));
};

const sources = [
  'apps',
  'libs',
  'test',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
  'package.json',
];
const isStale = () =>
  !existsSync(stamp) ||
  Math.max(...sources.map((path) => newest(join(root, path)))) > statSync(stamp).mtimeMs;

if (!onlyIfStale || isStale()) {
  // The stamp carries the moment before compiling: an edit made meanwhile counts as newer.
  const startedAt = new Date();
  if (onlyIfStale) process.stderr.write('Sources changed since the last build: compiling…\n');
  else rmSync(out, { recursive: true, force: true });
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build', 'api'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const program of Object.values(bin)) chmodSync(join(root, program), 0o755);
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
