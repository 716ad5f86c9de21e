import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '#platform/program-path.js';
import { projectPath } from '#platform/project-path.js';
import { removeDataFolder } from '../support/data-dir.js';
import { until } from '../support/integrator.js';
import { preparedDataDir } from '../support/prepared-data-dir.js';

let dataDir: string;
let stack: ChildProcess;
let api: ChildProcess | undefined;
let printed = '';
const environment = (): string => join(dataDir, 'environment');

beforeAll(async () => {
  dataDir = await preparedDataDir();
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    EMBEDDED_WITHOUT: 'api',
    EMBEDDED_SKIP_DEMO_WORKSPACE: '1',
    EXIT_WITH_PARENT: '1',
  };
  stack = spawn(process.execPath, [programPath('embedded')], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  for (const stream of [stack.stdout!, stack.stderr!])
    stream.on('data', (text: Buffer) => (printed += text.toString()));
  await until(
    () => printed.includes('Ready in'),
    () => printed,
  );
});

afterAll(() => {
  for (const one of [api, stack]) one?.kill('SIGKILL');
  removeDataFolder(dataDir);
});

it('a stack without its API has the settings for one that a developer runs', async () => {
  expect(printed).toContain('Starting the worker…');
  const settings = readFileSync(environment(), 'utf8');
  expect(settings).not.toMatch(/^(DATABASE_OWNER_URL|TOKEN_SIGNING_KEY)=/m);
  // As `nest start api` does.
  const started = spawn(
    process.execPath,
    [`--env-file=${environment()}`, projectPath('dist/apps/api/src/main.js')],
    {
      // The test runner's options are not for it.
      env: { PATH: process.env['PATH'], EXIT_WITH_PARENT: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  api = started;
  let said = '';
  started.stdout.on('data', (text: Buffer) => (said += text.toString()));
  const port = () => /"event":"listening".*?"port":(\d+)/.exec(said)?.[1];
  await until(
    () => port() !== undefined,
    () => said,
  );
  await until(
    async () => (await fetch(`http://127.0.0.1:${port()}/readyz`)).status === 200,
    () => said,
  );
  started.kill('SIGTERM');
  await once(started, 'close');
});

it('removes those settings when it stops', async () => {
  const exited = once(stack, 'close');
  stack.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
  expect(existsSync(environment())).toBe(false);
});

it('nest-cli.json names the programs', () => {
  const { projects } = JSON.parse(readFileSync(projectPath('nest-cli.json'), 'utf8')) as {
    readonly projects: Readonly<Record<string, { readonly entryFile: string }>>;
  };
  expect(Object.keys(projects)).toEqual(['api', 'worker', 'ops', 'embedded']);
  for (const { entryFile } of Object.values(projects))
    expect(existsSync(projectPath('dist', `${entryFile}.js`))).toBe(true);
});
