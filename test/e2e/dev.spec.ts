import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '@app/platform/project-path.js';
import { removeDataFolder } from '../support/data-dir.js';
import { until } from '../support/integrator.js';
import { preparedDataDir } from '../support/prepared-data-dir.js';

interface Runtime {
  readonly baseUrl: string;
  readonly pids: Readonly<Record<'api' | 'worker' | 'postgres' | 'event-store', number>>;
}

let dataDir: string;
let dev: ChildProcess;
let printed = '';
const runtime = (): Runtime => JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as Runtime;
const says = (text: string) =>
  until(
    () => printed.includes(text),
    () => printed,
  );
/** Saved with unchanged content, since other specs run from the same sources. */
const save = (file: string): void => utimesSync(projectPath(file), new Date(), new Date());

beforeAll(async () => {
  dataDir = await preparedDataDir();
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    EMBEDDED_SKIP_DEMO_WORKSPACE: '1',
    EXIT_WITH_PARENT: '1',
  };
  dev = spawn(process.execPath, [projectPath('dist/apps/embedded/src/dev.js')], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  for (const stream of [dev.stdout!, dev.stderr!])
    stream.on('data', (text: Buffer) => (printed += text.toString()));
  await says('Watching');
});

afterAll(() => {
  dev?.kill('SIGKILL');
  removeDataFolder(dataDir);
});

it('npm run dev restarts the process whose source was saved, and no other', async () => {
  const before = runtime();
  save('apps/api/src/described-api.ts');
  await says('Restarted api in');
  const { baseUrl, pids } = runtime();
  expect(baseUrl).toBe(before.baseUrl);
  await until(
    async () => (await fetch(`${baseUrl}/readyz`)).status === 200,
    () => 'the API is ready',
  );
  expect(pids).toEqual({ ...before.pids, api: expect.any(Number) });
  expect(pids.api).not.toBe(before.pids.api);

  save('libs/platform/src/text/printable.ts');
  await says('Restarted api and worker in');
  expect(runtime().pids).toMatchObject({ postgres: pids.postgres, 'event-store': pids['event-store'] });
  expect(runtime().pids.worker).not.toBe(pids.worker);
});

it('npm run dev stops gracefully', async () => {
  const exited = once(dev, 'close');
  dev.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
  expect(printed).toContain('Stopping…');
});
