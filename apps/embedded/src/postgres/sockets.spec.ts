import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { socketFolder } from './sockets.js';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'home-'));
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

describe('the folder of the database’s socket', () => {
  it('is beside the database, empty after a crash, and closed to others', () => {
    const folder = socketFolder(home, undefined);
    expect(folder).toBe(join(home, 'socket'));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    // Left by a killed server: it names a process id that another program may have now.
    writeFileSync(join(folder, '.s.PGSQL.5432.lock'), '1\n');
    expect(readdirSync(socketFolder(home, undefined))).toEqual([]);
  });

  it('is a new temporary folder if the path would be too long for a socket', () => {
    const deep = join(home, 'a'.repeat(100));
    mkdirSync(deep);
    const folder = socketFolder(deep, undefined);
    expect(folder.startsWith(tmpdir())).toBe(true);
    expect(Buffer.byteLength(`${folder}/.s.PGSQL.5432`)).toBeLessThanOrEqual(103);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(join(deep, 'socket'))).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
