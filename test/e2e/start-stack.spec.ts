import { afterAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '#platform/program-path.js';
import { identify } from '../../apps/embedded/src/process-identity.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { until } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/start-stack.js';

const dataDir = temporaryDataDir();
afterAll(() => removeDataFolder(dataDir));

const answers = async ({ baseUrl }: StartedStack): Promise<boolean> =>
  (await fetch(`${baseUrl}/openapi.json`)).ok;

const refusal = (env: Record<string, string>) => {
  const { status, stderr } = spawnSync(process.execPath, [programPath('embedded')], {
    env: { ...process.env, EMBEDDED_SKIP_DEMO_WORKSPACE: '1', ...env },
    encoding: 'utf8',
  });
  return { status, lines: stderr.trim().split('\n') };
};

describe('the embedded stack', () => {
  it('survives the death of each child and of all processes at once, and stops gracefully', async () => {
    const first = await startStack({ dataDir });
    try {
      expect(await answers(first)).toBe(true);

      expect(refusal({ DATA_DIR: dataDir, PORT: '0' })).toEqual({
        status: 1,
        lines: [expect.stringContaining(`Already running on ${dataDir} (process ${first.pids().main})`)],
      });

      for (const name of ['api', 'worker', 'event-store', 'postgres'] as const) {
        const killed = first.pids()[name];
        process.kill(killed, 'SIGKILL');
        await until(
          () => first.pids()[name] !== killed,
          () => `${name} is not back\n${first.output()}`,
        );
      }
      await until(
        () => answers(first),
        () => 'the API does not answer',
      );
    } finally {
      await first.killAll();
    }
    expect(existsSync(join(dataDir, 'lock'))).toBe(true);

    const second = await startStack({ dataDir, env: { EMBEDDED_SKIP_DEMO_WORKSPACE: '0' } });
    expect(await answers(second)).toBe(true);
    const link = () => /http:\S+\/portal\/enter\/[\w-]{43}/.exec(second.output())?.[0];
    await until(
      () => link() !== undefined,
      () => `no link to the portal of the demo workspace\n${second.output()}`,
    );
    // It asks; a form then enters.
    expect((await fetch(link()!, { redirect: 'manual' })).status).toBe(200);
    const pids = second.pids();
    expect(await second.stop()).toBe(0);
    expect(Object.values(pids).filter((pid) => identify(pid) !== undefined)).toEqual([]);
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  });

  it('refuses an unusable configuration with one clear message', () => {
    const folder = temporaryDataDir();
    try {
      expect(refusal({ DATA_DIR: folder, PORT: 'three' })).toEqual({
        status: 1,
        lines: ['The configuration cannot be used:', expect.stringContaining('PORT')],
      });
      expect(refusal({ DATA_DIR: folder, PORT: '0', PORTAL: '1', PUBLIC_URL: 'http://example.com' })).toEqual(
        {
          status: 1,
          lines: ['The configuration cannot be used:', expect.stringContaining('PORTAL')],
        },
      );
      expect(refusal({ DATA_DIR: folder, PORT: '1', HOST: '192.0.2.1' })).toEqual({
        status: 1,
        lines: [expect.stringContaining('choose others with HOST and PORT')],
      });
    } finally {
      removeDataFolder(folder);
    }
  });
});
