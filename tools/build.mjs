/**
 * Compiles the sources into `dist/`, file by file and without looking at types: `npm run typecheck` does that. With
 * --if-stale only the files that changed since the last build, so that `npm start` after an edit runs what was edited.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');
const stamp = join(out, '.built');
const onlyIfStale = process.argv.includes('--if-stale');

/** What no program runs: specifications, and suites that Jest compiles for itself. */
const isLeftOut = (file) =>
  file.endsWith('.spec.ts') ||
  file.endsWith('.d.ts') ||
  ['test/architecture', 'test/contract', 'test/e2e', 'test/security'].some((folder) =>
    file.startsWith(`${folder}/`),
  );

const filesBelow = (folder, ending) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith(ending) && !/(^|\/)(node_modules|dist)\//.test(name))
        .map((name) => `${folder}/${name}`)
    : [];

const sources = ['apps', 'libs', 'test']
  .flatMap((folder) => filesBelow(folder, '.ts'))
  .filter((file) => !isLeftOut(file));
const compiledOf = (source) => source.replace(/\.ts$/, '.js');

/** When a file was last changed, 0 when there is none. */
const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The aliases of tsconfig.json as relative paths: Node does not know them. */
const aliases = (file) => (code) => {
  const toLibrary = (path) => {
    const way = relative(dirname(file), path);
    return way.startsWith('.') ? way : `./${way}`;
  };
  return code
    .replaceAll(
      /((?:from|import)\s*\(?\s*)(["'])@app\/([^/"']+)\/([^"']+)\2/g,
      (_, before, quote, library, path) =>
        `${before}${quote}${toLibrary(`libs/${library}/src/${path}`)}${quote}`,
    )
    .replaceAll(
      /((?:from|import)\s*\(?\s*)(["'])@reading-service\/([^/"']+)\2/g,
      (_, before, quote, library) => `${before}${quote}${toLibrary(`libs/${library}/src/index.js`)}${quote}`,
    );
};

/** As jest.config.mjs compiles them, but for the target. */
const OPTIONS = {
  swcrc: false,
  configFile: false,
  sourceMaps: true,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
      verbatimModuleSyntax: true,
    },
  },
  module: { type: 'es6' },
};

/** Paths that hold on every machine, and not the source once more. */
const sourceMap = (map, source) => {
  const portable = { ...JSON.parse(map), sources: [relative(dirname(join('dist', source)), source)] };
  delete portable.sourcesContent;
  return JSON.stringify(portable);
};

/** Whole or not at all: another program may be reading it. */
const replaceFile = (path, text, seconds) => {
  const written = `${path}.${process.pid}`;
  writeFileSync(written, text);
  utimesSync(written, seconds, seconds);
  renameSync(written, path);
};

/** What it writes carries the time of the source as it was read: an edit made meanwhile is compiled next time. */
const compile = async (source, transformFile) => {
  const target = join(out, compiledOf(source));
  const readAt = changed(join(root, source)) / 1_000;
  const { code, map } = await transformFile(join(root, source), OPTIONS);
  mkdirSync(dirname(target), { recursive: true });
  replaceFile(`${target}.map`, sourceMap(map, source), readAt);
  replaceFile(target, `${aliases(source)(code)}//# sourceMappingURL=${basename(target)}.map\n`, readAt);
};

/** File times are kept to a fraction of a millisecond that differs between systems. */
const isOlder = (source) =>
  Math.abs(changed(join(root, source)) - changed(join(out, compiledOf(source)))) > 1;

// Other tools or another way of compiling: everything anew.
const settings = ['package.json', 'tsconfig.json', 'tools/build.mjs'];
const isAnew = !onlyIfStale || settings.some((file) => changed(join(root, file)) > changed(stamp));
const stale = isAnew ? sources : sources.filter(isOlder);

// Where there are no sources, there is nothing to compile from, and what is compiled stays.
if (stale.length > 0) {
  if (onlyIfStale) process.stderr.write('Sources changed since the last build: compiling…\n');
  // Only here: what is compiled runs without the tools that compile.
  const { transformFile } = await import('@swc/core');
  await Promise.all(stale.map((source) => compile(source, transformFile)));
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const program of Object.values(bin)) chmodSync(join(root, program), 0o755);
  writeFileSync(stamp, '');
}

const known = new Set(sources.map(compiledOf));
if (sources.length > 0) {
  for (const file of filesBelow('dist', '.js')) {
    if (known.has(file.slice('dist/'.length))) continue;
    for (const end of ['', '.map']) rmSync(join(root, `${file}${end}`), { force: true });
  }
}
