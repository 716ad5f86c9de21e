import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { programPath, type Program } from '@app/platform/program-path.js';
import { projectPath } from '@app/platform/project-path.js';
import { BOOK } from '@app/publishing/content/book/families.js';
import { readEntries } from '@app/publishing/content/book/read-entries.js';
import { LOCALES } from '@app/publishing/document/testing/trial.js';
import { EVENT_STORE_FLAGS, SERVICE_FLAGS } from '../../apps/embedded/src/node-service.js';

/** Reports the files that the program loads besides its bundle, and whether V8 took a code cache for the bundle. */
const reporter = `data:text/javascript,${encodeURIComponent(`
  import { createRequire, syncBuiltinESMExports } from 'node:module';
  import vm from 'node:vm';
  vm.Script = class extends vm.Script {
    constructor(code, options) {
      super(code, options);
      process.stderr.write('REJECTED ' + this.cachedDataRejected + '\\n');
    }
  };
  syncBuiltinESMExports();
  const { cache } = createRequire(${JSON.stringify(pathToFileURL(projectPath('package.json')).href)});
  process.on('exit', () => {
    for (const file of Object.keys(cache)) process.stderr.write('LOADED ' + file + '\\n');
  });`)}`;

const PACKAGE = /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/;

/** With the flags that it is started with: each set of flags has a cache of its own. */
const FLAGS: Readonly<Record<Exclude<Program, 'demo'>, readonly string[]>> = {
  api: SERVICE_FLAGS,
  worker: SERVICE_FLAGS,
  ops: SERVICE_FLAGS,
  embedded: [],
  'embedded-event-store': EVENT_STORE_FLAGS,
};

/** What the program loads at its start: packages as files of their own, those in its bundle, and its code cache. */
const packagesOf = async (program: keyof typeof FLAGS) => {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const args = [...FLAGS[program], '--import', reporter, programPath(program), '--help'];
  const { stderr } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 });
  const files = [...stderr.matchAll(/^LOADED (.*)$/gm)].map(([, file]) => file!);
  const packageOf = (path: string) => PACKAGE.exec(path)?.[1] ?? [];
  // The bundler writes the path of each module above it.
  const bundle = readFileSync(projectPath('dist/bundles', `${program}.cjs`), 'utf8');
  const parts = bundle.match(/^\s*\/\/ .*node_modules.*$/gm) ?? [];
  return {
    apart: new Set(files.flatMap(packageOf)),
    bundled: new Set(parts.flatMap(packageOf)),
    /** `false` if V8 took the code cache, `undefined` without one. */
    rejected: /^REJECTED (.*)$/m.exec(stderr)?.[1],
  };
};

const PROGRAMS = Object.keys(FLAGS) as (keyof typeof FLAGS)[];

// A package would have state of its own in each copy.
it.each(PROGRAMS)('%s loads no package twice, and is not compiled at its start', async (program) => {
  const { apart, bundled, rejected } = await packagesOf(program);
  expect(rejected).toBe('false');
  expect(bundled.size).toBeGreaterThan(0);
  expect([...apart].filter((name) => bundled.has(name))).toEqual([]);
});

it('the API consists of its bundle alone', async () => {
  expect([...(await packagesOf('api')).apart]).toEqual([]);
});

it.each(LOCALES)('the bundles have the prose of the sources in %s', (locale) => {
  const bundled = JSON.parse(
    readFileSync(projectPath('dist/bundles', `book-${locale}.json`), 'utf8'),
  ) as object;
  const files = Object.keys(BOOK);
  expect(Object.keys(bundled)).toEqual(files);
  expect(bundled).toEqual(Object.fromEntries(files.map((file) => [file, readEntries(locale, file)])));
});

it('the worker compiles no schema of documents: its bundle has the compiled code', () => {
  const bundle = readFileSync(projectPath('dist/bundles/worker.cjs'), 'utf8');
  expect(bundle).toContain('// dist/libs/publishing/src/document/document-check.js');
  expect(bundle).not.toContain('// node_modules/ajv/dist/2020.js');
});
