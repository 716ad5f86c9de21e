import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { removeDataFolder, startStack } from '../support/index.js';
import { until } from '../support/integrator.js';
import { preparedDataDir } from '../support/prepared-data-dir.js';

it('A stack without its API has the settings for one that a developer runs, until it stops', async () => {
  const dataDir = await preparedDataDir();
  const stack = await startStack({ dataDir, env: { EMBEDDED_WITHOUT: 'api' } });
  const environment = join(dataDir, 'environment');
  try {
    expect(stack.output()).toContain('Starting the worker…');
    expect(readFileSync(environment, 'utf8')).not.toMatch(/^(DATABASE_OWNER_URL|TOKEN_SIGNING_KEY)=/m);
    // As `nest start api` does.
    const api = spawn(
      process.execPath,
      [`--env-file=${environment}`, projectPath('dist/apps/api/src/main.js')],
      {
        // The test runner's options are not for it.
        env: { PATH: process.env['PATH'], EXIT_WITH_PARENT: '1' },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    let said = '';
    api.stdout.on('data', (text: Buffer) => (said += text.toString()));
    const port = () => /"event":"listening".*?"port":(\d+)/.exec(said)?.[1];
    await until(
      async () => (await fetch(`http://127.0.0.1:${port()}/readyz`)).status === 200,
      () => said,
    );
    api.kill('SIGTERM');
    await once(api, 'close');
  } finally {
    expect(await stack.stop()).toBe(0);
    expect(existsSync(environment)).toBe(false);
    removeDataFolder(dataDir);
  }
});

it('nest-cli.json names the programs', () => {
  const { projects } = JSON.parse(readFileSync(projectPath('nest-cli.json'), 'utf8')) as {
    readonly projects: Readonly<Record<string, { readonly entryFile: string }>>;
  };
  for (const name of ['api', 'worker', 'ops', 'embedded'])
    expect(existsSync(projectPath('dist', `${projects[name]!.entryFile}.js`))).toBe(true);
});
