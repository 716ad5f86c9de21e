import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectPath } from '#platform/project-path.js';

const ROOT = projectPath('.');

/** Every Markdown page of the project, except planted ones. */
const pages = [
  ...readdirSync(ROOT),
  ...['.github', 'apps', 'deploy', 'docs', 'libs', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ),
].filter((path) => path.endsWith('.md') && !/planted|node_modules/.test(path));

const withoutCode = (page: string): string =>
  readFileSync(page, 'utf8').replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');

/** The anchors that GitHub derives from a page's headings. */
const anchors = (page: string): ReadonlySet<string> =>
  new Set(
    [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  );

/** Links of a page to missing files or headings. */
const brokenLinks = (path: string): readonly string[] => {
  const page = join(ROOT, path);
  return [...withoutCode(page).matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
    .filter(([, target, anchor]) => {
      const file = target === '' ? page : join(dirname(page), decodeURI(target!));
      return !existsSync(file) || (anchor && file.endsWith('.md') && !anchors(file).has(anchor));
    })
    .map(([link]) => link);
};

describe('the documentation', () => {
  it('has the pages that a newcomer needs', () => {
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/README.md', 'docs/architecture.md']),
    );
  });

  it.each(pages)('has no broken link in %s', (path) => {
    expect(brokenLinks(path)).toEqual([]);
  });

  it('lists every page of docs in its index', () => {
    const index = readFileSync(join(ROOT, 'docs', 'README.md'), 'utf8');
    const unlisted = pages
      .filter(
        (path) => path.startsWith('docs/') && !path.startsWith('docs/adr/') && path !== 'docs/README.md',
      )
      .filter((path) => !index.includes(`](${relative('docs', path)})`));
    expect(unlisted).toEqual([]);
  });
});
