import { describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSettings } from './child-environment.js';
import { openDataFolder } from './data-folder.js';
import { loadSecrets } from './secrets.js';

const emptyFolder = () => openDataFolder(mkdtempSync(join(tmpdir(), 'secrets-')));

describe('the secrets of a data folder', () => {
  it('are generated once, private, and valid for the service', () => {
    const folder = emptyFolder();
    const secrets = loadSecrets(folder);
    expect(loadSecrets(folder)).toEqual(secrets);
    expect(statSync(folder.secrets).mode & 0o777).toBe(0o600);
    expect(checkSettings({}, secrets).ENCRYPTION_KEYS).toEqual([{ id: 'k1', key: expect.any(Buffer) }]);
  });

  it('differ from folder to folder', () => {
    expect(loadSecrets(emptyFolder())).not.toEqual(loadSecrets(emptyFolder()));
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

  it('do not hide an invalid setting', () => {
    expect(() => checkSettings({ PORT: 'three' }, loadSecrets(emptyFolder()))).toThrow('PORT');
  });
});
