/**
 * Bundles each program of `dist/` with its packages into `dist/<name>.js`. A program consists of about 2,000 modules;
 * from a bundle it starts in a third of the time. Code that only some commands need stays in chunks, loaded on demand.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');

/** The programs by name, and their entry files in `dist/`. `npm run dev` runs these instead of the bundles. */
const PROGRAMS = {
  api: 'apps/api/src/main.js',
  worker: 'apps/worker/src/main.js',
  ops: 'apps/ops/src/main.js',
  embedded: 'apps/embedded/src/main.js',
  demo: 'apps/embedded/src/demo.js',
  'embedded-event-store': 'libs/embedded-event-store/src/main.js',
  'ledger-thread': 'libs/billing/src/application/audit/log-parts/thread.js',
  'companion-server': 'test/support/companion-server.js',
};

/** Packages that load files of their own: binaries, threads. */
const WITH_OWN_FILES = ['@myriaddreamin/*', 'lmdb', 'piscina'];

/** What packages of ours would use if it were there, and the compiler of configuration files that we do not have. */
const OPTIONAL = [
  '@fastify/static',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'pg-native',
  'typescript',
];

/** For CommonJS packages. Each file of the output gets it. */
const COMMONJS = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __directory } from 'node:path';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = require("node:url").fileURLToPath(import.meta.url);',
  'const __dirname = __directory(__filename);',
].join('');

/** Replaces a file atomically, because a program may be reading it. */
const replaceFile = (path, contents) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
};

/** @throws with esbuild's messages when a program imports what does not exist */
export const bundle = async () => {
  // Import it only here, because compiled programs run without it.
  const { build } = await import('esbuild');
  const entries = Object.entries(PROGRAMS).filter(([, entry]) => existsSync(join(out, entry)));
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(entries.map(([name, entry]) => [name, join(out, entry)])),
    absWorkingDir: root,
    outdir: out,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    // No `keepNames`: it names each closure again whenever one is created, a tenth of the CPU of a month close. Nothing
    // goes by the name of a class, and names stay but where two modules have the same one.
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'linked',
    sourcesContent: false,
    // Its CommonJS files cannot be bundled.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    external: [...WITH_OWN_FILES, ...OPTIONAL.flatMap((name) => [name, `${name}/*`])],
    banner: { js: COMMONJS },
    logLevel: 'warning',
    write: false,
  });
  // Chunks first: a program that starts meanwhile finds all that it imports.
  const isChunk = ({ path }) => dirname(path) !== out;
  for (const file of outputFiles.toSorted((a, b) => Number(isChunk(b)) - Number(isChunk(a))))
    replaceFile(file.path, file.contents);
  const written = new Set(outputFiles.map(({ path }) => path));
  for (const folder of [out, join(out, 'chunks')])
    for (const name of readdirSync(folder).filter((file) => /\.js(\.map)?$/.test(file)))
      if (!written.has(join(folder, name))) rmSync(join(folder, name));
};
