import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder, identify } from './folder-lock.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-store-lock-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const holdBy = (holder: object): void => writeFileSync(join(folder, 'server.lock'), JSON.stringify(holder));

describe('the lock of a data folder', () => {
  it('is taken over from a dead process, also when another program has its id now', () => {
    holdBy({ pid: process.pid, startedAt: 'long ago' });
    const release = lockFolder(folder);
    expect(JSON.parse(readFileSync(join(folder, 'server.lock'), 'utf8'))).toEqual(identify(process.pid));
    release();
  });

  it('is taken over from a killed process that is still a zombie', async () => {
    // `exec` replaces the shell with a program that never waits for the shell's child process.
    const parent = spawn('sh', ['-c', 'sleep 30 & echo $!; exec sleep 30']);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const holder = identify(pid);
    expect(holder).toBeDefined();
    // Until then, the shell would take the dead child away.
    while (!readFileSync(`/proc/${parent.pid}/comm`, 'utf8').startsWith('sleep')) await sleep(5);
    process.kill(pid, 'SIGKILL');
    while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) await sleep(20);
    holdBy(holder!);
    try {
      lockFolder(folder)();
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
