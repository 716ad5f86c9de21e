import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';

const MOST_FILES = 35;

const page = readFileSync(projectPath('docs/architecture.md'), 'utf8');
const section = page.slice(page.indexOf('## The path of a reading'), page.indexOf('## Modules'));

/** The code that the first column of the tables links: what acts on the reading when nothing crashes. */
const files = new Set(
  section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((row) => [...row.split('|')[1]!.matchAll(/\]\(([^)]+[.]ts)\)/g)].map(([, target]) => target!)),
);

it('docs/architecture.md links at most 35 files from the request to the webhook, and counts them right', () => {
  expect(files.size).toBeLessThanOrEqual(MOST_FILES);
  expect(section).toContain(`the ${files.size} files that act on the reading`);
});
