import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify } from './process-identity.js';
import { readJson } from './private-file.js';
import { ProcessRecord } from './process-record.js';

const recordPath = (): string => join(mkdtempSync(join(tmpdir(), 'record-')), 'processes.json');

const spawned: ChildProcess[] = [];
const child = (command = 'sleep', ...args: string[]): number => {
  const process = spawn(command, args.length > 0 ? args : ['60'], { stdio: 'ignore' });
  spawned.push(process);
  return process.pid!;
};
afterEach(() => spawned.splice(0).forEach((process) => process.kill('SIGKILL')));

describe('the record of child processes', () => {
  it('lets a later run end the orphans of an earlier one', async () => {
    const path = recordPath();
    const pid = child();
    new ProcessRecord(path).add('worker', pid);
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeUndefined();
    expect(readJson(path)).toEqual({});
  });

  it('kills an orphan that ignores signals', async () => {
    const path = recordPath();
    const pid = child('/bin/sh', '-c', 'trap "" TERM; while :; do sleep 1; done');
    new ProcessRecord(path).add('api', pid);
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeUndefined();
  });

  it('does not touch another process with the same id', async () => {
    const path = recordPath();
    const pid = child();
    writeFileSync(path, JSON.stringify({ api: { pid, startedAt: 'long ago' } }));
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeDefined();
  });

  it('forgets a child that ended, but not its replacement', () => {
    const record = new ProcessRecord(recordPath());
    const [first, second] = [child(), child()];
    record.add('api', first);
    record.add('api', second);
    record.remove('api', first);
    expect(record.pids()).toEqual({ api: second });
    record.remove('api', second);
    expect(record.pids()).toEqual({});
  });
});
