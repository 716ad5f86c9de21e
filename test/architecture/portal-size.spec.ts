import { expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';

const MOST = 4_500;
/** What people read is content: texts in two languages, and samples of code. Specs are no part of the program. */
const OTHERS = /(?:^|\/)(?:texts|testing|verify)\/|[.]spec[.]ts$/;

const filledLines = (path: string): number =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;

it('The portal stays small: at most 4,500 lines of pages, frame, style and script (ADR 0034)', () => {
  const files = ['src', 'assets'].flatMap((folder) => {
    const below = projectPath(`apps/portal/${folder}`);
    return readdirSync(below, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${parentPath}/${name}`.replaceAll('\\', '/'));
  });
  const counted = files.filter((path) => !OTHERS.test(path)).map(filledLines);
  expect(counted.length).toBeGreaterThan(40);
  expect(counted.reduce((sum, lines) => sum + lines, 0)).toBeLessThanOrEqual(MOST);
});
