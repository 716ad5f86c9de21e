import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { programPath } from '#platform/program-path.js';
import { sharedStack, type Stack } from '../support/index.js';

const MAIN = programPath('ops');
/** What Node does under a user id that /etc/passwd does not list. */
const NO_PASSWD_ENTRY = `data:text/javascript,${encodeURIComponent(
  `import os from 'node:os';
   import { syncBuiltinESMExports } from 'node:module';
   os.userInfo = () => { throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT'); };
   syncBuiltinESMExports();`,
)}`;

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
});

afterAll(async () => {
  await stack?.stop();
});

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}, flags: readonly string[] = []) => {
  const child = spawn(process.execPath, [...flags, MAIN, ...args], {
    env: { ...process.env, DATA_DIR: stack.dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number, stderr })) };
};

describe('the operator’s commands, wherever they run,', () => {
  it('work under a user id without a name, and record the id', async () => {
    const { child, ended } = start(['workspace', 'create', '--name', 'Nobody’s', '--json'], {}, [
      '--import',
      NO_PASSWD_ENTRY,
    ]);
    let stdout = '';
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    expect(await ended).toEqual({ code: 0, stderr: '' });
    const { workspaceId } = JSON.parse(stdout) as { workspaceId: string };
    const { events } = (await stack.ops(['streams', 'show', `workspace-${workspaceId}`])) as {
      events: { metadata: { actor: string } }[];
    };
    expect(events.map(({ metadata }) => metadata.actor)).toEqual([`operator:uid-${process.getuid!()}`]);
  });

  it('end quietly when nobody reads on, with the code of a closed pipe if they were not done', async () => {
    const { child, ended } = start(['streams', 'tail']);
    child.stdout.destroy();
    let code: number | null = null;
    void ended.then((answer) => (code = answer.code));
    while (code === null) await stack.ops(['workspace', 'create', '--name', 'Seen']);
    expect(await ended).toEqual({ code: 141, stderr: '' });
  });

  it('fail with one line when their output is on a full disk', () => {
    const full = openSync('/dev/full', 'w');
    const stdio: StdioOptions = ['ignore', full, 'pipe'];
    const { status, stderr } = spawnSync(process.execPath, [MAIN, '--help'], { stdio, encoding: 'utf8' });
    closeSync(full);
    expect([status, stderr]).toEqual([1, 'The output is not complete: its disk is full.\n']);
  });

  it('keep their own exit code when they are done', async () => {
    const help = start(['--help']);
    help.child.stdout.destroy();
    expect(await help.ended).toEqual({ code: 0, stderr: '' });
    const refused = start(['streams', 'show', 'reading-nothing']);
    refused.child.stdout.destroy();
    expect(await refused.ended).toMatchObject({ code: 1 });
  });

  it.each([{ NO_COLOR: '1' }, { FORCE_COLOR: '1' }, { TERM: 'dumb' }])(
    'print no colours (%o)',
    async (env) => {
      const { child, ended } = start(['projections', 'list'], env);
      let stdout = '';
      child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
      const { code, stderr } = await ended;
      expect(code).toBe(0);
      expect(stdout).toContain('readings.reading.v1');
      expect(stdout + stderr).not.toContain('\u001b');
    },
  );
});
