/**
 * Compiles the project when a source file is newer than the last build, and says nothing otherwise, so that
 * `npm start` after an edit runs what was edited and after an installation starts at once.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const stamp = join(root, 'dist', '.built');
const builtAt = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;

const newest = (folder) => {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) latest = Math.max(latest, newest(path));
    else if (/\.(ts|json)$/.test(entry.name)) latest = Math.max(latest, statSync(path).mtimeMs);
  }
  return latest;
};

const sources = Math.max(
  ...['apps', 'libs', 'test'].map((folder) => newest(join(root, folder))),
  ...['tsconfig.json', 'tsconfig.build.json', 'package.json'].map((file) => statSync(join(root, file)).mtimeMs),
);

if (sources > builtAt) {
  const startedAt = new Date();
  process.stderr.write('Sources changed since the last build: compiling…\n');
  const { status } = spawnSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
