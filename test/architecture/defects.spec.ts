import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';

const rows = readFileSync(projectPath('docs/defects.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, defect, file, test] = /^\| (.*?) ?\| `(\S+\.spec\.ts)` \| `(.+?)` *\|$/.exec(line) ?? [];
    return file && test ? [{ defect: defect!, file, test }] : [];
  });

it('docs/defects.md names fifteen defects', () => {
  expect(rows.filter(({ defect }) => defect !== '')).toHaveLength(15);
});

it.each(rows)('docs/defects.md names an existing test: $file, $test', ({ file, test }) => {
  const title = test.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  expect(readFileSync(projectPath(file), 'utf8')).toMatch(
    new RegExp(String.raw`\bit(\.each\([\s\S]*?\))?\(\s*['\`]${title}['\`]`),
  );
});
