import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';

/** The first snippet in a language after a place in a page. */
const snippet = (page: string, after: string, language: string): string => {
  const text = readFileSync(projectPath(page), 'utf8');
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(
    text.slice(text.indexOf(after)),
  )?.[1];
  if (!code) throw new Error(`${page} has no snippet in ${language} after ${after}`);
  return code;
};

describe('the README’s verification of webhooks', () => {
  it.each(['js', 'python'])('in %s is that of docs/webhooks.md, which has tests of its own', (language) => {
    expect(snippet('README.md', '## Webhooks', language)).toBe(
      snippet('docs/webhooks.md', '## Verification', language),
    );
  });
});
