import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';

/** The first snippet in JavaScript after a place in a page. */
const snippet = (page: string, after: string): string => {
  const text = readFileSync(projectPath(page), 'utf8');
  const code = /```js\n([\s\S]+?)```/.exec(text.slice(text.indexOf(after)))?.[1];
  if (!code) throw new Error(`${page} has no snippet after ${after}`);
  return code;
};

it('The README’s verification of webhooks is that of docs/webhooks.md, which has tests of its own', () => {
  expect(snippet('README.md', '## Webhooks')).toBe(snippet('docs/webhooks.md', '## Verification'));
});
