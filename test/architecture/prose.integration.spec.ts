import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { runTool } from './run-tool.js';

const ONE_TOO_MANY = `This sentence has ${'one word and '.repeat(9).trim()} too.`;

/** A page, and the beginnings of what must be said of it, in order. */
const PAGES: Readonly<Record<string, readonly [text: string, ...messages: string[]]>> = {
  'old-words.md': [
    'The receiver is told of each event. A worker that starts again goes\non with what it left.',
    'Not "is told of" but "is sent"',
    'Not "goes on with" but "resume"',
  ],
  'long-sentence.md': [
    `${ONE_TOO_MANY}\n\n| note |\n|---|\n| ${'a note of five words; '.repeat(9)} |`,
    '31 words in a sentence: at most 30. Split it',
  ],
  'plain.md': [
    'Code is not prose: `whoever is told`.\n\n```sh\necho "whoever is told"\n```\n\n[A link](https://example.com/whoever).',
  ],
};

describe('the prose linter', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prose-'));
  let reports: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    for (const [name, [text]] of Object.entries(PAGES)) writeFileSync(join(folder, name), `${text}\n`);
    const config = ['--config', projectPath('.textlintrc.json'), '--rulesdir', projectPath('tools', 'prose')];
    const found = await runTool<
      readonly { filePath: string; messages: readonly { readonly message: string }[] }[]
    >('textlint/bin/textlint.js', [...config, '--format', 'json', ...Object.keys(PAGES)], folder);
    reports = new Map(
      found.map((page) => [basename(page.filePath), page.messages.map(({ message }) => message)]),
    );
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(Object.entries(PAGES))('reports the faults of %s, and nothing else', (page, [, ...expected]) => {
    const found = reports.get(page) ?? [];
    expect(found).toHaveLength(expected.length);
    expect(found.filter((message, index) => !message.startsWith(expected[index]!))).toEqual([]);
  });
});
