/**
 * `npm run test:generators`: what other people do with docs/openapi.json. Four generators make code of it, the compiler
 * checks that code, and a generated client orders a reading from a running service. Spectral lints the document.
 * Redocly does so in `npm run lint`.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const document = join(root, 'docs/openapi.json');
const tools = join(root, '.cache/api-tools');
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

const FILES = ['package.json', 'package-lock.json'];

/**
 * Installs the tools of test/generators/package.json into `.cache/api-tools`, when its lock has changed. They weigh three
 * times what the project itself needs, so `npm ci` of the project leaves them out.
 */
const installTools = () => {
  const stamp = join(tools, '.installed');
  const wanted = FILES.map((file) => readFileSync(join(here, file), 'utf8')).join('');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  mkdirSync(tools, { recursive: true });
  for (const file of FILES) copyFileSync(join(here, file), join(tools, file));
  copyFileSync(join(root, '.npmrc'), join(tools, '.npmrc'));
  process.stdout.write('Installing the tools into .cache/api-tools…\n');
  execFileSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: tools,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(stamp, wanted);
};

const READY_WITHIN_MS = 120_000;

/**
 * Runs work against an embedded stack of its own, on a free port and in a temporary folder.
 * @param work takes BASE_URL and API_KEY of the demo workspace
 */
const withService = async (work) => {
  const folder = mkdtempSync(join(tmpdir(), 'generators-'));
  const stack = spawn(process.execPath, [join(root, 'dist/embedded.js')], {
    env: { ...process.env, DATA_DIR: folder, PORT: '0' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  stack.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  try {
    const until = Date.now() + READY_WITHIN_MS;
    const found = () => [/BASE_URL=(\S+)/.exec(printed)?.[1], /API_KEY=(ek_[\w-]+)/.exec(printed)?.[1]];
    while (found().includes(undefined)) {
      if (stack.exitCode !== null || Date.now() > until)
        throw new Error(`The service did not start:\n${printed}`);
      await sleep(100);
    }
    const [BASE_URL, API_KEY] = found();
    return await work({ BASE_URL, API_KEY });
  } finally {
    stack.kill('SIGTERM');
    if (stack.exitCode === null) await once(stack, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
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

installTools();
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
