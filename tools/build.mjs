/**
 * Builds `dist/`: the modules (`nest build`, by nest-cli.json), the pages under /docs (site/), and a bundle of each
 * program, which starts in less time (docs/adr/0023). `npm run lint:code` checks the types.
 *   --if-stale   only if a source is newer than the last build
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
const isSource = (file) => /\.(tsx?|md|m?js|css|svg|json)$/.test(file) && !file.endsWith('.spec.ts');

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const STAMP = 'dist/.built';
const startedAt = new Date();
const sources = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'nest-cli.json', '.swcrc', 'CHANGELOG.md'],
  ...['apps', 'libs', 'test', 'tools', 'docs'].filter(changedAt).flatMap(filesBelow).filter(isSource),
];
if (process.argv.includes('--if-stale')) {
  if (!sources.some((file) => changedAt(file) > changedAt(STAMP))) process.exit();
  process.stderr.write('Sources changed since the last build; compiling…\n');
} else rmSync('dist', { recursive: true, force: true });

execFileSync(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});

const { buildSite } = await import('./site/build-site.mjs');
buildSite();

// Compiled programs run without the bundler.
const { build } = await import('esbuild');
await build({
  entryPoints: {
    api: 'dist/apps/api/src/main.js',
    worker: 'dist/apps/worker/src/main.js',
    ops: 'dist/apps/ops/src/main.js',
    embedded: 'dist/apps/embedded/src/main.js',
    demo: 'dist/apps/embedded/src/demo.js',
    'embedded-event-store': 'dist/libs/embedded-event-store/src/main.js',
  },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});
for (const program of Object.values(JSON.parse(readFileSync('package.json', 'utf8')).bin))
  chmodSync(program, 0o755);
writeFileSync(STAMP, '');
utimesSync(STAMP, startedAt, startedAt);
