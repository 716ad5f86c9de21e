/**
 * `npm run test:generators`: what other people do with docs/openapi.json. Four generators make code of it, the compiler
 * checks that code, and a generated client orders a reading from a running service. Spectral lints the document.
 * Redocly does so in `npm run lint`.
 */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { installTools } from './install.mjs';
import { withService } from './service.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const document = join(here, '../../docs/openapi.json');
const tools = installTools();
const work = join(tools, 'work');
const bin = (name) => join(tools, 'node_modules/.bin', name);
const generated = (path) => join(work, 'generated', path);

/** Generators in the way their documentation shows first. */
const GENERATORS = {
  '@hey-api/openapi-ts': [
    'openapi-ts',
    '-i',
    document,
    '-o',
    generated('hey-api'),
    '-c',
    '@hey-api/client-fetch',
  ],
  orval: [
    'orval',
    '--input',
    document,
    '--output',
    generated('orval/client.ts'),
    '--client',
    'fetch',
    '--mode',
    'single',
  ],
  'openapi-typescript': ['openapi-typescript', document, '-o', generated('openapi-typescript/api.ts')],
  'openapi-zod-client': ['openapi-zod-client', document, '-o', generated('zod/client.ts')],
};

/** As strict as an application may be; `bundler` as generated code names modules without an extension. */
const COMPILER = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  },
  include: ['generated', 'order-reading.ts'],
};

let failed = 0;
/** Runs one check, and prints how it ended. */
const check = async (name, work) => {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;
  try {
    await work();
    process.stdout.write(`passed ${name} (${seconds()})\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(
      `FAILED ${name} (${seconds()})\n${error.stdout ?? ''}${error.stderr ?? error.stack}\n`,
    );
  }
};
const run = (command, ...args) => promisify(execFile)(bin(command), args, { cwd: work, maxBuffer: 2 ** 26 });

rmSync(work, { recursive: true, force: true });
for (const folder of ['openapi-typescript', 'orval', 'zod'])
  mkdirSync(generated(folder), { recursive: true });
copyFileSync(join(here, 'order-reading.mts'), join(work, 'order-reading.ts'));
writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(COMPILER));

await Promise.all(
  Object.entries(GENERATORS).map(([name, command]) => check(`${name} generates`, () => run(...command))),
);
await Promise.all([
  check('the generated code compiles', () => run('tsc', '-p', '.')),
  check('spectral:oas finds nothing', () =>
    run('spectral', 'lint', document, '-r', join(here, 'spectral.yaml'), '--fail-severity', 'hint'),
  ),
]);
await check('a generated client orders a reading and reads its document', async () => {
  const program = join(work, 'order-reading.mjs');
  await build({
    entryPoints: [join(work, 'order-reading.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  await withService((env) =>
    execFileSync(process.execPath, [program], { env: { ...process.env, ...env }, timeout: 120_000 }),
  );
});
process.exitCode = failed === 0 ? 0 : 1;
