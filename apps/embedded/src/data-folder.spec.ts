import { expect, it } from '@jest/globals';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataDirOf, openDataFolder } from './data-folder.js';
import { StackError } from './stack-error.js';

const folder = mkdtempSync(join(tmpdir(), 'data-folder-'));
const file = join(folder, 'file');
writeFileSync(file, '');
const dangling = join(folder, 'dangling');
symlinkSync(join(folder, 'nowhere'), dangling);

it.each([
  ['that is a file', file],
  ['below a file', join(file, 'data')],
  // ENOENT, as for a folder two levels below a read-only mount.
  ['that cannot come to be', join(dangling, 'a', 'data')],
])('A data folder %s is not writable, and says so', (_, path) => {
  expect(() => openDataFolder(path)).toThrow(StackError);
  expect(() => openDataFolder(path)).toThrow(`${path} is not writable: choose another one with DATA_DIR.`);
});

it('An empty DATA_DIR counts as none, for the stack and for ops', () => {
  expect(dataDirOf({ DATA_DIR: '/srv/reading' })).toBe('/srv/reading');
  for (const environment of [{}, { DATA_DIR: '' }]) expect(dataDirOf(environment)).toBe(resolve('.data'));
});
