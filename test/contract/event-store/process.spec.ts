import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { runProgram, startEmbeddedChild } from './support/child-store.js';
import { IS_EMBEDDED } from './support/store-under-test.js';

const ended = async (args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
  const { child } = runProgram(args);
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
};

(IS_EMBEDDED ? describe : describe.skip)('the program of the embedded event store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'event-store-process-'));
  const dataDir = join(folder, 'data');
  const noLogin = join(folder, 'no-login');
  writeFileSync(noLogin, 'nobody\n');

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('verifies a folder that is served, and refuses a second server on it with one line', async () => {
    const first = await startEmbeddedChild(dataDir);
    const verified = await ended(['verify', '--data', dataDir, '--json']);
    expect([verified.code, verified.err, JSON.parse(verified.out)]).toMatchObject([0, '', { findings: 0 }]);
    const second = await ended(['--data', dataDir, '--port', '0']);
    expect([second.code, second.out]).toEqual([1, '']);
    expect(second.err).toMatch(/^.* is in use by the event store with process id \d+.*\n$/);
    expect(await first.end('SIGINT')).toBe(0);
  });

  it('exits with status 0 when the process that started it closes its standard input', async () => {
    const server = await startEmbeddedChild(dataDir);
    const exited = once(server.process, 'exit');
    server.process.stdin?.end();
    expect((await exited)[0]).toBe(0);
  });

  it.each([
    [['--port', '0'], /required option '--data <folder>'[^]*Usage:/],
    [['--data', 'x', '--port', '70000'], /'70000' is invalid[^]*from 0 to 65535[^]*Usage:/],
    [['--data', 'x', '--nonsense'], /--nonsense[^]*Usage:/],
    [['verify', '--data', join(folder, 'nothing')], /data file .* does not exist/],
    [['--data', join(folder, 'new'), '--tls-cert', noLogin], /must be given together/],
    [['--data', join(folder, 'new'), '--user-file', noLogin], /must have the form name:password/],
  ])('explains the arguments %j', async (args, explanation) => {
    const { code, err } = await ended(args);
    expect([code, err]).toEqual([1, expect.stringMatching(explanation)]);
    expect(err).not.toContain('nobody');
  });
});
