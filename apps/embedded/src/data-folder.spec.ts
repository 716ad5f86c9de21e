import { describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataDirOf, openDataFolder, StackError } from './data-folder.js';
import { checkSettings, loadSecrets } from './secrets.js';

const folder = mkdtempSync(join(tmpdir(), 'data-folder-'));
const file = join(folder, 'file');
writeFileSync(file, '');
const dangling = join(folder, 'dangling');
symlinkSync(join(folder, 'nowhere'), dangling);

it.each([
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

const emptyFolder = () => openDataFolder(mkdtempSync(join(tmpdir(), 'secrets-')));

describe('the secrets of a data folder', () => {
  it('are generated once, private, and valid for the service', () => {
    const folder = emptyFolder();
    const secrets = loadSecrets(folder);
    expect(loadSecrets(folder)).toEqual(secrets);
    expect(statSync(folder.secrets).mode & 0o777).toBe(0o600);
    expect(checkSettings({}, secrets).ENCRYPTION_KEYS).toEqual([{ id: 'k1', key: expect.any(Buffer) }]);
  });

  it.each(['are gone', 'are damaged'])('are not replaced when they %s and sealed data exists', (state) => {
    const folder = emptyFolder();
    loadSecrets(folder);
    mkdirSync(folder.postgres);
    if (state === 'are gone') rmSync(folder.secrets);
    else writeFileSync(folder.secrets, '{"ENCRYPTION_KEYS":');
    expect(() => loadSecrets(folder)).toThrow('cannot be read without it');
  });

  it('are overridden by keys in the environment', () => {
    const key = `k2:${Buffer.alloc(32, 7).toString('base64')}`;
    const config = checkSettings({ ENCRYPTION_KEYS: key }, loadSecrets(emptyFolder()));
    expect(config.ENCRYPTION_KEYS.map(({ id }) => id)).toEqual(['k2']);
  });
});
