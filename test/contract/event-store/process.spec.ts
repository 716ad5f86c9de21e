import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runProgram, startEmbeddedChild } from './support/child-store.js';
import { IS_EMBEDDED } from './support/store-under-test.js';

(IS_EMBEDDED ? describe : describe.skip)('the process of the embedded event store', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-process-'));
  });

  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('refuses a second server on the same folder with one line, and the first keeps running', async () => {
    const first = await startEmbeddedChild(dataDir);
    const { child, firstLine } = runProgram(['--data', dataDir, '--port', '0']);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(await firstLine).toBeUndefined();
    expect(code).toBe(1);
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).toMatch(/is in use by the event store with process id \d+/);
    expect(await first.end('SIGINT')).toBe(0);
  });

  it('exits with status 0 when the process that started it closes its standard input', async () => {
    const server = await startEmbeddedChild(dataDir);
    const exited = once(server.process, 'exit');
    server.process.stdin?.end();
    expect((await exited)[0]).toBe(0);
  });

  it.each([
    [['--port', '0'], /required option '--data <folder>'/],
    [['--data', 'x', '--port', '70000'], /'70000' is invalid[^]*from 0 to 65535/],
    [['--nonsense'], /--nonsense/],
  ])('explains the arguments %j', async (args, explanation) => {
    const { child } = runProgram(args);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(1);
    expect(said).toMatch(explanation);
    expect(said).toContain('Usage:');
  });
});
