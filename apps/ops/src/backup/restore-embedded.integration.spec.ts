import { expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedObstacles } from './restore-embedded.js';

it('A mount point cannot be restored to: it cannot be renamed at the end', () => {
  expect(embeddedObstacles('/dev', true)).toEqual([
    expect.stringMatching(/^\/dev is a mount point.*DATA_DIR to a folder inside it/),
  ]);
});

it('A restore needs a folder to build in, which may be new', () => {
  const parent = mkdtempSync(join(tmpdir(), 'restore-'));
  try {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    expect(embeddedObstacles(join(parent, 'missing', 'data'), false)).toEqual([]);
    expect(embeddedObstacles(join(file, 'data'), false)).toEqual([
      expect.stringMatching(/file is no folder that can be written/),
    ]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
