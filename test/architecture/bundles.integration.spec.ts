import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { programPath, type Program } from '@app/platform/program-path.js';
import { projectPath } from '@app/platform/project-path.js';

/** Reports the files that the program loads besides its bundle. */
const reporter = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire(${JSON.stringify(pathToFileURL(projectPath('package.json')).href)});
  process.on('exit', () => {
    for (const file of Object.keys(cache)) process.stderr.write('LOADED ' + file + '\\n');
  });`)}`;

const PACKAGE = /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/;

/** The packages that the program loads at its start as files of their own, and those in its bundle. */
const packagesOf = async (program: Program) => {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const args = ['--import', reporter, programPath(program), '--help'];
  const { stderr } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 });
  const files = [...stderr.matchAll(/^LOADED (.*)$/gm)].map(([, file]) => file!);
  const packageOf = (path: string) => PACKAGE.exec(path)?.[1] ?? [];
  // The bundler writes the path of each module above it.
  const bundle = readFileSync(projectPath('dist/bundles', `${program}.cjs`), 'utf8');
  const parts = bundle.match(/^\s*\/\/ .*node_modules.*$/gm) ?? [];
  return { apart: new Set(files.flatMap(packageOf)), bundled: new Set(parts.flatMap(packageOf)) };
};

const PROGRAMS: readonly Program[] = ['api', 'worker', 'ops', 'embedded', 'embedded-event-store'];

// It would have state of its own in each copy.
it.each(PROGRAMS)('%s loads no package twice', async (program) => {
  const { apart, bundled } = await packagesOf(program);
  expect(bundled.size).toBeGreaterThan(0);
  expect([...apart].filter((name) => bundled.has(name))).toEqual([]);
});

it('the API consists of its bundle alone', async () => {
  expect([...(await packagesOf('api')).apart]).toEqual([]);
});
