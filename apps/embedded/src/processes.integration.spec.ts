import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from './private-file.js';
import { identify, ProcessRecord } from './processes.js';
import { takeLock } from './data-folder.js';

const newPath = (): string => join(mkdtempSync(join(tmpdir(), 'processes-')), 'file');

const spawned: ChildProcess[] = [];
const child = (command = 'sleep', ...args: string[]): number => {
  const process = spawn(command, args.length > 0 ? args : ['60'], { stdio: 'ignore' });
  spawned.push(process);
  return process.pid!;
};
afterEach(() => spawned.splice(0).forEach((process) => process.kill('SIGKILL')));

describe('the record of child processes', () => {
  it.each([
    ['ends at a signal', []],
    ['ignores signals', ['/bin/sh', '-c', 'trap "" TERM; while :; do sleep 1; done']],
  ])('lets a later run end an orphan that %s', async (_, command) => {
    const path = newPath();
    const pid = child(...command);
    new ProcessRecord(path).add('worker', pid);
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeUndefined();
    expect(readJson(path)).toEqual({});
  });

  it('does not touch another process with the same id', async () => {
    const path = newPath();
    const pid = child();
    writeFileSync(path, JSON.stringify({ api: { pid, startedAt: 'long ago' } }));
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeDefined();
  });
});

it('A data folder is locked while a running process holds it, which the refusal names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  const release = takeLock(folder);
  expect(() => takeLock(folder)).toThrow(
    `Already running on ${folder} (process ${process.pid}). Stop it first, or choose another DATA_DIR.`,
  );
  release();
  takeLock(folder)();
});
