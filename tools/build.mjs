/**
 * Compiles the sources into `dist/`, file by file, renders the documentation that the service serves (site/), and bundles
 * the programs (bundle.mjs). `npm run lint:code` checks the types.
 *   --if-stale   only what changed since the last build, so that `npm start` runs the edited code
 *   --modules    no bundles: `npm run dev` runs the modules
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
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');
const stamp = join(out, '.built');
const bundled = join(out, '.bundled');
const site = join(out, 'site/docs.html');
const onlyIfStale = process.argv.includes('--if-stale');

/** Files that no program runs: specs, and suites that Jest compiles itself. */
const isLeftOut = (file) =>
  /\.spec\.tsx?$/.test(file) ||
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

const sources = ['apps', 'libs', 'test', 'tools/content']
  .flatMap((folder) => ['.ts', '.tsx'].flatMap((ending) => filesBelow(folder, ending)))
  .filter((file) => !isLeftOut(file));
const compiledOf = (source) => source.replace(/\.tsx?$/, '.js');

/** Modification time of a file, 0 if it does not exist. */
const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Replaces the aliases of tsconfig.json with relative paths, because Node does not know them. */
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

/**
 * The compiler takes the types of Express in decorated signatures for the globals of the same names. These would have
 * Node load `fetch` at each start.
 */
const withoutFetch = (code) =>
  code.replaceAll(/typeof (Request|Response) === "undefined" \? Object : \1/g, 'Object');

/** The same options as in jest.config.mjs, except the target. Pages (.tsx) are JSX, which Preact renders. */
const optionsOf = (source) => ({
  swcrc: false,
  configFile: false,
  sourceMaps: true,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true, tsx: source.endsWith('.tsx') },
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
      verbatimModuleSyntax: true,
      react: { runtime: 'automatic', importSource: 'preact' },
    },
  },
  module: { type: 'es6' },
});

/** A source map with paths that are valid on every machine, and without a copy of the source. */
const sourceMap = (map, source) => {
  const portable = { ...JSON.parse(map), sources: [relative(dirname(join('dist', source)), source)] };
  delete portable.sourcesContent;
  return JSON.stringify(portable);
};

/** Replaces a file atomically, because another program may be reading it. */
const replaceFile = (path, text, seconds) => {
  const written = `${path}.${process.pid}`;
  writeFileSync(written, text);
  utimesSync(written, seconds, seconds);
  renameSync(written, path);
};

/**
 * The output gets the modification time that the source had when it was read. A later edit is thus compiled
 * next time.
 */
const compile = async (source, transformFile) => {
  const target = join(out, compiledOf(source));
  const readAt = changed(join(root, source)) / 1_000;
  const { code, map } = await transformFile(join(root, source), optionsOf(source));
  mkdirSync(dirname(target), { recursive: true });
  replaceFile(`${target}.map`, sourceMap(map, source), readAt);
  replaceFile(
    target,
    `${withoutFetch(aliases(source)(code))}//# sourceMappingURL=${basename(target)}.map\n`,
    readAt,
  );
};

/** File systems store a different precision below a millisecond. */
const isOlder = (source) =>
  Math.abs(changed(join(root, source)) - changed(join(out, compiledOf(source)))) > 1;

// Changed tools or compiler settings: compile everything.
const tools = ['build', 'bundle', 'launch'].map((name) => `tools/${name}.mjs`);
const settings = ['package.json', 'tsconfig.json', ...tools];
const isAnew = !onlyIfStale || settings.some((file) => changed(join(root, file)) > changed(stamp));
const stale = isAnew ? sources : sources.filter(isOlder);

// Without sources there is nothing to compile, and existing output stays.
if (stale.length > 0) {
  if (onlyIfStale) process.stderr.write('Sources changed since the last build; compiling…\n');
  // Import it only here, because compiled programs run without the compiler.
  const { transformFile } = await import('@swc/core');
  await Promise.all(stale.map((source) => compile(source, transformFile)));
  writeFileSync(stamp, '');
}

const known = new Set(sources.map(compiledOf));
if (sources.length > 0) {
  for (const file of ['apps', 'libs', 'test', 'tools'].flatMap((folder) =>
    filesBelow(`dist/${folder}`, '.js'),
  )) {
    if (known.has(file.slice('dist/'.length))) continue;
    for (const end of ['', '.map']) rmSync(join(root, `${file}${end}`), { force: true });
  }
}

// The pages under /docs.
const pages = ['docs', 'tools/site'].flatMap((folder) => filesBelow(folder, ''));
const readmes = ['client', 'webhook-verifier'].map((name) => `libs/${name}/README.md`);
const isSiteStale = ['CHANGELOG.md', ...readmes, ...pages].some(
  (file) => changed(join(root, file)) > changed(site),
);
if (sources.length > 0 && (isAnew || isSiteStale)) {
  const { buildSite } = await import('./site/build-site.mjs');
  buildSite();
}

// The packages are part of a bundle, and so is the prose. A folder changes when a file in it comes or goes.
const prose = filesBelow('libs/publishing/content', '').map((path) => join(root, path));
const parts = [stamp, join(root, 'node_modules/.package-lock.json'), ...prose];
const isBundleStale = isAnew || parts.some((part) => changed(part) > changed(bundled));
if (sources.length > 0 && isBundleStale && !process.argv.includes('--modules')) {
  await bundle();
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const program of Object.values(bin)) chmodSync(join(root, program), 0o755);
  writeFileSync(bundled, '');
}
