/**
 * Bundles each program of `dist/` with its packages into `dist/bundles/<name>.cjs`, which `dist/<name>.js` starts. A
 * program consists of about 2,000 modules; from a bundle it starts in a third of the time, and with V8's code cache in a
 * quarter. CommonJS, because V8 caches no ES modules before Node 22.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');
const bundles = join(out, 'bundles');

/** The programs by name, and their entry files in `dist/`. `npm run dev` runs these instead of the bundles. */
const PROGRAMS = {
  api: 'apps/api/src/main.js',
  worker: 'apps/worker/src/main.js',
  ops: 'apps/ops/src/main.js',
  embedded: 'apps/embedded/src/main.js',
  demo: 'apps/embedded/src/demo.js',
  'embedded-event-store': 'libs/embedded-event-store/src/main.js',
  'companion-server': 'test/support/companion-server.js',
};

/**
 * Programs with code caches: the arguments of a run that loads what they use, and a cache for each set of V8 flags that
 * they are started with (apps/embedded/src/node-service.ts, package.json). With other flags a program runs without.
 */
const SERVICE = ['--max-semi-space-size=32'];
const CACHED = {
  api: { args: ['--help'], flags: [SERVICE] },
  worker: { args: ['--help'], flags: [SERVICE] },
  ops: { args: ['doctor', '--help'], flags: [[], SERVICE] },
  embedded: { args: ['--help'], flags: [[]] },
  'embedded-event-store': { args: ['--help'], flags: [[], ['--max-semi-space-size=8']] },
};

/** Packages that load files of their own: binaries, threads. */
export const WITH_OWN_FILES = ['@myriaddreamin/*', 'lmdb', 'piscina'];

/** What packages of ours would use if it were there, and the compiler of configuration files that we do not have. */
export const OPTIONAL = [
  '@fastify/static',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'pg-native',
  'typescript',
];

/** Replaces a file atomically, because a program may be reading it. */
const replaceFile = (path, contents) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
};

/** Escapes what the bundler leaves in regular expressions and comments: ASCII loads in a quarter of the time. */
const inAscii = (text) =>
  text.replaceAll(/(?<!\\)[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** CommonJS has `await` only in functions: what follows the imports of an entry file becomes one. */
const entryAsFunction = (entries) => ({
  name: 'entry-as-function',
  setup: ({ onLoad }) =>
    onLoad({ filter: /main[.]js$|demo[.]js$|thread[.]js$|companion-server[.]js$/ }, ({ path }) => {
      if (!entries.includes(path)) return undefined;
      const lines = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => !/^(#!|\/\/# sourceMappingURL)/.test(line));
      const begin = lines.findLastIndex((line) => line.startsWith('import ')) + 1;
      // As with a module that fails, the process ends with the error.
      const end = '})().catch((error) => process.nextTick(() => { throw error; }));';
      return {
        contents: [...lines.slice(0, begin), '(async () => {', ...lines.slice(begin), end].join('\n'),
      };
    }),
});

/**
 * The prose of the readings as JSON beside the bundles. Parsing and checking the YAML costs half a second of CPU, in each
 * process that composes a document.
 */
const bookAsJson = {
  name: 'book-as-json',
  setup: ({ onLoad }) =>
    onLoad({ filter: /read-entries[.]js$/ }, async ({ path }) => {
      const { readEntries } = await import(pathToFileURL(path).href);
      const { BOOK } = await import(pathToFileURL(join(dirname(path), 'families.js')).href);
      for (const locale of ['fr-FR', 'en-US']) {
        const files = Object.keys(BOOK).map((file) => [file, readEntries(locale, file)]);
        replaceFile(join(bundles, `book-${locale}.json`), JSON.stringify(Object.fromEntries(files)));
      }
      const file = 'new URL(`book-${locale}.json`, import.meta.url)';
      return {
        contents: `import { readFileSync } from 'node:fs';
          const books = {};
          export const readEntries = (locale, file) =>
            (books[locale] ??= JSON.parse(readFileSync(${file}, 'utf8')))[file];`,
      };
    }),
};

/** The check of documents as code. Compiling its schema costs 0.2 s of CPU, in each process that composes one. */
const compiledCheck = {
  name: 'compiled-check',
  setup: ({ onLoad }) =>
    onLoad({ filter: /document-check[.]js$/ }, async ({ path }) => {
      const { default: standalone } = await import('ajv/dist/standalone/index.js');
      const { compileDocumentCheck } = await import(pathToFileURL(path).href);
      const { ajv, check } = compileDocumentCheck();
      const code = standalone.default(ajv, check);
      return {
        contents: `${code}; export const compileDocumentCheck = () => ({ check: validate });`,
        resolveDir: root,
      };
    }),
};

/** What packages do when they are loaded, though we have no use for it: a text of theirs, and what replaces it. */
const LIGHTENED = {
  // Looks for a global of Cloudflare, which has Node load `fetch`.
  'pg/lib/stream.js': ["typeof Response === 'function'", 'false'],
  // Load the formats of the locale, for log lines that we write otherwise.
  'services/console-logger.service.js': ['= new Intl.DateTimeFormat(', '= logTime('],
  'services/logger.service.js': ['= new Intl.DateTimeFormat(', '= logTime('],
};
const LOG_TIME = '\nfunction logTime() { return { format: (at) => new Date(at).toISOString() }; }';

const lightened = {
  name: 'lightened',
  setup: ({ onLoad }) =>
    onLoad({ filter: /(pg.lib.stream|nestjs.*logger[.]service)[.]js$/ }, ({ path }) => {
      const [, [text, other]] = Object.entries(LIGHTENED).find(([file]) =>
        path.endsWith(join(...file.split('/'))),
      );
      const source = readFileSync(path, 'utf8');
      if (!source.includes(text)) throw new Error(`${path} does not contain: ${text}`);
      return { contents: source.replace(text, other) + LOG_TIME };
    }),
};

/** Four packages have copies of the same table of media types, which takes as long to load each time. */
const oneTableOfMediaTypes = {
  name: 'one-table-of-media-types',
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^mime-types$/ }, ({ kind, pluginData, resolveDir }) =>
      pluginData === 'here' || !/node_modules.(accepts|send|type-is)\b/.test(resolveDir)
        ? undefined
        : resolve('mime-types', { kind, pluginData: 'here', resolveDir: join(root, 'node_modules/express') }),
    ),
};

/** Runs a program once, and keeps what V8 has compiled. */
const writeCodeCache = async (name, args, flags) => {
  const launcher = JSON.stringify(pathToFileURL(join(out, 'launch.js')).href);
  const code = `import { launchAndCache } from ${launcher}; launchAndCache('${name}');`;
  const command = [...flags, '--input-type=module', '--eval', code, '--', name, ...args];
  await promisify(execFile)(process.execPath, command, { env: { ...process.env, NODE_OPTIONS: '' } });
};

/** @throws with esbuild's messages when a program imports what does not exist */
export const bundle = async () => {
  // Import it only here, because compiled programs run without it.
  const { build } = await import('esbuild');
  const programs = Object.entries(PROGRAMS)
    .map(([name, entry]) => [name, join(out, entry)])
    .filter(([, entry]) => existsSync(entry));
  const names = programs.map(([name]) => name);
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(programs),
    absWorkingDir: root,
    outdir: bundles,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    // No `keepNames`: it names each closure again whenever one is created, a tenth of the CPU of a month close. Nothing
    // goes by the name of a class, and names stay but where two modules have the same one.
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    // A script with a code cache has no `import()` of its own.
    supported: { 'dynamic-import': false },
    // Strict, as the modules that it consists of. launch.mjs calls the function.
    banner: {
      js: '(function (require, __filename, __dirname) {"use strict";const __url = require("node:url").pathToFileURL(__filename).href;',
    },
    footer: { js: '})' },
    define: { 'import.meta.url': '__url' },
    plugins: [
      entryAsFunction(programs.map(([, entry]) => entry)),
      bookAsJson,
      compiledCheck,
      lightened,
      oneTableOfMediaTypes,
    ],
    sourcemap: 'linked',
    sourcesContent: false,
    external: [...WITH_OWN_FILES, ...OPTIONAL.flatMap((name) => [name, `${name}/*`])],
    logLevel: 'warning',
    write: false,
  });
  // A program that starts meanwhile finds what it needs: its bundle first, and no cache of the one before.
  for (const file of existsSync(bundles) ? readdirSync(bundles) : [])
    if (file.endsWith('.cache')) rmSync(join(bundles, file));
  for (const { path, text } of outputFiles) replaceFile(path, inAscii(text));
  replaceFile(join(out, 'launch.js'), readFileSync(join(root, 'tools/launch.mjs')));
  for (const name of names) {
    const text = `#!/usr/bin/env node\nimport { launch } from './launch.js';\nlaunch('${name}');\n`;
    replaceFile(join(out, `${name}.js`), text);
  }
  const kept = new Set(['launch.js', ...names.map((name) => `${name}.js`)]);
  for (const file of readdirSync(out))
    if (/\.js(\.map)?$/.test(file) && !kept.has(file)) rmSync(join(out, file));
  rmSync(join(out, 'chunks'), { recursive: true, force: true });
  const cached = names.filter((name) => name in CACHED);
  await Promise.all(
    cached.flatMap((name) =>
      CACHED[name].flags.map((flags) => writeCodeCache(name, CACHED[name].args, flags)),
    ),
  );
};
