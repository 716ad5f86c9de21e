import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mirrorKeys, readMirror } from './keys-mirror.js';

const NO_KEYS = { keyDirectory: null, secretsFile: null };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mirror-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const reading = (readingId: string) => ({ readingId, workspaceId: 'ws_1' });
const listed = () => readMirror(folder, 'here').erased.map(({ readingId }) => readingId);

it('A mirror keeps what was erased, also when the log no longer has it', () => {
  mirrorKeys(folder, 'here', NO_KEYS, [reading('a')]);
  mirrorKeys(folder, 'here', NO_KEYS, [reading('b')]);
  expect(listed()).toEqual(['a', 'b']);
});

it('A mirror forgets an erasure that only a bad event listed', () => {
  mirrorKeys(folder, 'here', NO_KEYS, [reading('a'), reading('b')]);
  mirrorKeys(folder, 'here', NO_KEYS, [], ['b']);
  expect(listed()).toEqual(['a']);
});
