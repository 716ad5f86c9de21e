import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { projectPath } from '@app/platform/project-path.js';
import { runTool } from './run-tool.js';

interface PageReport {
  readonly filePath: string;
  readonly messages: readonly { readonly message: string }[];
}

const PLANTED_PROSE = projectPath('test', 'architecture', 'planted', 'prose');

describe('the prose linter', () => {
  const pages = readdirSync(PLANTED_PROSE);
  let reports: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    const config = ['--config', projectPath('.textlintrc.json'), '--rulesdir', projectPath('tools', 'prose')];
    const found = await runTool<readonly PageReport[]>(
      'textlint/bin/textlint.js',
      [...config, '--format', 'json', ...pages],
      PLANTED_PROSE,
    );
    reports = new Map(
      found.map((page) => [basename(page.filePath), page.messages.map(({ message }) => message)]),
    );
  });

  it.each(pages)('reports the planted faults in %s, and nothing else', (page) => {
    const text = readFileSync(join(PLANTED_PROSE, page), 'utf8');
    const planted = [...text.matchAll(/^<!-- caught by: (.+) -->$/gm)].map(([, message]) => message!);
    const found = (reports.get(page) ?? []).map((message, index) =>
      planted[index] && message.startsWith(planted[index]) ? planted[index] : message,
    );
    expect(found).toEqual(planted);
  });
});
