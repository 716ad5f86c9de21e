import { beforeEach, describe, expect, it } from '@jest/globals';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { epochsUnderTest, SECRET } from '#platform/crypto/epochs/testing/epochs-under-test.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { checkDestroyedKeys } from './doctor.js';
import { forgetEpoch, rememberEpoch } from './keys.js';

const epochs = epochsUnderTest();
const { keysOf, upkeepOf, seal } = epochs;

let ended: string;
let sealedInIt: Awaited<ReturnType<typeof seal>>;

/** Two readings under an epoch that has ended, one under the current. */
beforeEach(async () => {
  const keys = keysOf();
  sealedInIt = await seal(keys);
  await seal(keys);
  ended = (await keys.current()).id;
  await upkeepOf(keys).advance();
  await seal(keys);
});

const partsOf = (folder = epochs.folder) => ({ pool: epochs.pool, keys: keysOf({ folder }) });
const forget = (folder: string, choice = {}, epoch = ended) =>
  forgetEpoch(partsOf(folder), epoch, { yes: true, ...choice });
const isDestroyed = async () => (await epochs.rows.find(ended))!.destroyedAt !== null;
const keyFile = () => join(epochs.folder, `${ended}.key`);
const setAside = () => renameSync(keyFile(), `${epochs.folder}.aside`);
const putBack = () => renameSync(`${epochs.folder}.aside`, keyFile());

describe('A lost key', () => {
  it.each(['missing', 'empty', 'of another installation'])(
    'is not forgotten while the folder of keys is %s, unless all keys are lost',
    async (kind) => {
      const wrong = `${epochs.folder}.wrong`;
      if (kind !== 'missing') mkdirSync(wrong, { recursive: true });
      if (kind === 'of another installation') await keysOf({ folder: wrong }).store!.make('20260105T000000Z');
      for (const yes of [true, undefined])
        await expect(forget(wrong, { yes })).rejects.toThrow(
          /KEY_DIRECTORY has none of the 2 keys.*wraps 2 readings.*--all-keys-lost/,
        );
      expect(await isDestroyed()).toBe(false);
      expect(await forget(wrong, { allKeysLost: true })).toBe(2);
      expect(await isDestroyed()).toBe(true);
    },
  );

  it('is forgotten where other keys are, after it was said how many readings it wraps', async () => {
    setAside();
    expect(await forget(epochs.folder, { yes: undefined })).toBe(2);
    expect(await isDestroyed()).toBe(false);
    expect(await forget(epochs.folder)).toBe(2);
    expect(await isDestroyed()).toBe(true);
  });

  it('is not forgotten while it opens, also when all keys are said to be lost, nor for another one', async () => {
    await expect(forget(epochs.folder, { allKeysLost: true })).rejects.toThrow('is present: nothing is lost');
    const other = `${epochs.folder}.other`;
    await keysOf({ folder: other }).store!.make(ended);
    await expect(forget(other, { allKeysLost: true })).rejects.toThrow(
      /another key .* than the one that wrapped/,
    );
    expect(await isDestroyed()).toBe(false);
  });
});

describe('A key that was forgotten and found', () => {
  beforeEach(async () => {
    setAside();
    await forget(epochs.folder);
  });
  const doctor = () => checkDestroyedKeys(epochs.pool, keysOf());
  const opened = async () =>
    (await new SubjectKeys(epochs.pool, keysOf()).find(sealedInIt.subject))?.open('input', sealedInIt.sealed);

  it('is a failure of the doctor, which names the command that opens its readings again', async () => {
    expect(await doctor()).toMatchObject({ level: 'ok' });
    putBack();
    expect(await opened()).toBeUndefined();
    expect(await doctor()).toMatchObject({
      level: 'failure',
      message: expect.stringContaining(ended),
      advice: expect.stringContaining(`ops keys remember ${ended} --yes`),
    });
    expect(await rememberEpoch(partsOf(), ended, {})).toBe(2);
    expect(await opened()).toBeUndefined();
    expect(await rememberEpoch(partsOf(), ended, { yes: true })).toBe(2);
    expect(await opened()).toEqual(SECRET);
    expect(await doctor()).toMatchObject({ level: 'ok' });
  });

  it('is not remembered before it is there, nor in place of another one', async () => {
    await expect(rememberEpoch(partsOf(), ended, { yes: true })).rejects.toThrow(
      `put ${ended}.key there first`,
    );
    await keysOf().store!.make(ended);
    await expect(rememberEpoch(partsOf(), ended, { yes: true })).rejects.toThrow('another key');
    copyFileSync(`${epochs.folder}.aside`, keyFile());
    await rememberEpoch(partsOf(), ended, { yes: true });
    await expect(rememberEpoch(partsOf(), ended, { yes: true })).rejects.toThrow(
      'does not count as destroyed',
    );
  });
});
