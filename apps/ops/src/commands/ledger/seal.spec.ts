import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSeal } from './seal.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seal-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('A seal replaces no other one, and may be written again', async () => {
  const path = join(folder, 'seal.json');
  for (const _ of ['first', 'again']) await writeSeal(path, 'first\n');
  await expect(writeSeal(path, 'second\n')).rejects.toThrow(`${path} exists already`);
  expect(readFileSync(path, 'utf8')).toBe('first\n');
});
