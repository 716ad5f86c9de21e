import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mirrorKeys, readMirror } from './keys-mirror.js';

const NO_KEYS = { keyDirectory: null, secretsFile: null };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mirror-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const [A, B] = ['a', 'b'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
];
const reading = (readingId: string) => ({ readingId, workspaceId: 'ws_1' });
const listed = () => readMirror(folder, 'here').erased.map(({ readingId }) => readingId);

it('A mirror keeps what was erased, also when the log no longer has it', () => {
  mirrorKeys(folder, 'here', NO_KEYS, [reading(A)]);
  mirrorKeys(folder, 'here', NO_KEYS, [reading(B)]);
  expect(listed()).toEqual([A, B]);
});

it('A mirror forgets an erasure that only a bad event listed', () => {
  mirrorKeys(folder, 'here', NO_KEYS, [reading(A), reading(B)]);
  mirrorKeys(folder, 'here', NO_KEYS, [], [B]);
  expect(listed()).toEqual([A]);
});

it('A mirror forgets an id that no reading has, as earlier versions listed some', () => {
  mirrorKeys(folder, 'here', NO_KEYS, [reading(A), reading('foo')]);
  expect(listed()).toEqual([A]);
});

describe('The keys in a mirror', () => {
  const ENDED = '20261109T000000Z';
  const CURRENT = '20261116T000000Z';
  let keyDirectory: string;
  beforeEach(() => {
    keyDirectory = mkdtempSync(join(tmpdir(), 'keys-'));
    for (const epoch of [ENDED, CURRENT]) writeFileSync(join(keyDirectory, `${epoch}.key`), 'sealed');
  });
  afterEach(() => rmSync(keyDirectory, { recursive: true, force: true }));

  const mirror = (destroyed: readonly string[] = []) =>
    mirrorKeys(folder, 'here', { keyDirectory, secretsFile: null, destroyed }, []);
  const mirrored = () => readdirSync(join(folder, 'keys')).toSorted();

  it('survive the loss of the folder of keys, and an empty folder in its place', () => {
    mirror();
    rmSync(keyDirectory, { recursive: true });
    mirror();
    expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
    mkdirSync(keyDirectory);
    mirror();
    expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
  });

  it('go when the folder records them as destroyed, or PostgreSQL does and they are gone', () => {
    mirror();
    rmSync(join(keyDirectory, `${ENDED}.key`));
    mirror([ENDED]);
    expect(mirrored()).toEqual([`${CURRENT}.key`]);
    writeFileSync(join(keyDirectory, `${CURRENT}.destroyed`), '');
    mirror([ENDED]);
    expect(mirrored()).toEqual([`${CURRENT}.destroyed`]);
  });

  it('stay while the service has them, though PostgreSQL records them as destroyed; a mark in the folder counts', () => {
    mirror();
    expect(mirror([ENDED])).toEqual([ENDED]);
    expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
    writeFileSync(join(keyDirectory, `${ENDED}.destroyed`), '');
    expect(mirror([ENDED])).toEqual([]);
    expect(mirrored()).toEqual([`${ENDED}.destroyed`, `${CURRENT}.key`]);
  });

  it('never include a draft, which would outlive its key', () => {
    writeFileSync(join(keyDirectory, `${CURRENT}.1.draft`), 'sealed');
    mirror();
    writeFileSync(join(folder, 'keys', `${CURRENT}.key.2.draft`), 'sealed');
    mirror();
    expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
  });
});
