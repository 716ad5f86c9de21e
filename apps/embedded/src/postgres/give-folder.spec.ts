import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveFolder } from './give-folder.js';

const own = { uid: process.getuid!(), gid: process.getgid!() };
/** Only root can change the owner of a folder. */
const other = own.uid === 0 ? { uid: 12_345, gid: 12_345 } : own;

let place: string;
let folder: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'give-folder-'));
  folder = join(place, 'folder');
});

afterEach(() => {
  rmSync(place, { recursive: true, force: true });
});

describe('a folder created for an account', () => {
  it('gets that account as its owner', () => {
    mkdirSync(folder);
    giveFolder(folder, other);
    expect(statSync(folder)).toMatchObject(other);
  });

  it('is refused if replaced by a link, and the link target keeps its owner', () => {
    const target = join(place, 'target');
    mkdirSync(target);
    symlinkSync(target, folder);
    expect(() => giveFolder(folder, other)).toThrow(/ENOTDIR|ELOOP/);
    expect(statSync(target)).toMatchObject(own);
  });

  it('is refused if replaced by a file, such as a hard link to another user’s file', () => {
    const file = join(place, 'file');
    writeFileSync(file, '');
    linkSync(file, folder);
    expect(() => giveFolder(folder, other)).toThrow(/ENOTDIR/);
    expect(statSync(file)).toMatchObject(own);
  });

  (own.uid === 0 ? it : it.skip)('is refused if it belongs to another user', () => {
    mkdirSync(folder);
    chownSync(folder, 23_456, 23_456);
    expect(() => giveFolder(folder, other)).toThrow('not a folder of this process');
    expect(statSync(folder)).toMatchObject({ uid: 23_456 });
  });
});
