import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeLock } from './lock.js';
import { identify } from './process-identity.js';

let folder: string;
let locks = 0;
const lockPath = (): string => join(folder, `lock-${++locks}`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the lock of a data folder', () => {
  it('is refused while a running process holds it, and free after its release', () => {
    const path = lockPath();
    const release = takeLock(path, '/data');
    expect(() => takeLock(path, '/data')).toThrow(
      `Already running on /data (process ${process.pid}). Stop it first, or choose another DATA_DIR.`,
    );
    release();
    expect(existsSync(path)).toBe(false);
    takeLock(path, '/data')();
  });

  it('is taken over from a dead process', () => {
    const path = lockPath();
    const { pid } = spawnSync('true');
    writeFileSync(path, JSON.stringify({ pid, startedAt: 'then' }));
    expect(() => takeLock(path, '/data')).not.toThrow();
  });

  it('is taken over when another program has the process id', () => {
    const path = lockPath();
    writeFileSync(path, JSON.stringify({ pid: process.ppid, startedAt: 'before the machine restarted' }));
    expect(() => takeLock(path, '/data')).not.toThrow();
  });

  it('is not taken over from another running process', () => {
    const path = lockPath();
    writeFileSync(path, JSON.stringify(identify(process.ppid)));
    expect(() => takeLock(path, '/data')).toThrow(`(process ${process.ppid})`);
  });

  it('is taken over when its file is truncated', () => {
    const path = lockPath();
    writeFileSync(path, '{"pid":');
    expect(() => takeLock(path, '/data')).not.toThrow();
  });
});
