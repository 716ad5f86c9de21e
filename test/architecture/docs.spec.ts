import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';

const ROOT = projectPath('.');
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** Every Markdown page of the project, except planted ones. */
const pages = [
  ...readdirSync(ROOT),
  ...['.github', 'apps', 'deploy', 'docs', 'libs', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ),
].filter((path) => path.endsWith('.md') && !/planted|node_modules/.test(path));

const withoutCode = (page: string): string => read(page).replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');

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
  return [...withoutCode(path).matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
    .filter(([, target, anchor]) => {
      const file = target === '' ? path : join(dirname(path), decodeURI(target!));
      return !existsSync(join(ROOT, file)) || (anchor && file.endsWith('.md') && !anchors(file).has(anchor));
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
    const index = read('docs/README.md');
    const unlisted = pages
      .filter(
        (path) => path.startsWith('docs/') && !path.startsWith('docs/adr/') && path !== 'docs/README.md',
      )
      .filter((path) => !index.includes(`](${relative('docs', path)})`));
    expect(unlisted).toEqual([]);
  });

  it('verifies webhooks in the README as in docs/webhooks.md, whose verification has tests of its own', () => {
    const snippet = (page: string, after: string): string =>
      /```js\n([\s\S]+?)```/.exec(page.slice(page.indexOf(after)))![1]!;
    expect(snippet(read('README.md'), '## Webhooks')).toBe(
      snippet(read('docs/webhooks.md'), '## Verification'),
    );
  });
});

describe('the security documentation', () => {
  /** The specs that a page names: by path, or by file name when an earlier name on the line gives the folder. */
  const namedIn = (page: string): readonly string[] =>
    [...read(page).matchAll(/`([\w./-]+\.spec\.ts)`/g)].map(([, name]) => name!);
  const attacks = readdirSync(projectPath('test/security')).filter((name) => name.endsWith('.spec.ts'));
  const known = [...attacks, ...readdirSync(projectPath('test/architecture'))];

  it('names tests that exist', () => {
    const named = namedIn('docs/security.md');
    expect(named.length).toBeGreaterThan(20);
    const exists = (name: string) =>
      name.includes('/') ? existsSync(join(ROOT, name)) : known.includes(name);
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });

  it('lists every attack of the suite', () => {
    const listed = namedIn('test/security/README.md').map((name) => basename(name));
    expect(attacks.filter((name) => !listed.includes(name))).toEqual([]);
  });
});

describe('docs/alerts.yml', () => {
  interface Rules {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[];
    }[];
  }
  const rules = (parse(read('docs/alerts.yml')) as Rules).groups.flatMap((group) => group.rules);

  /** The alerts with a selector of this metric that the pattern does not find in the braces. */
  const without = (metric: RegExp, wanted: RegExp): readonly string[] =>
    rules
      .filter(({ expr }) =>
        [...expr.matchAll(/\b([a-z_]+)(?:\{([^}]*)\})?\[/g)].some(
          ([, name = '', selectors = '']) => metric.test(name) && !wanted.test(selectors),
        ),
      )
      .map(({ alert }) => alert);

  it('alarms nobody because of what test readings ask for', () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(without(/^readings?_/, /mode="live"/)).toEqual([]);
    expect(without(/^webhook_attempts_total$/, /asked_refusal|result="proxy_failed"/)).toEqual([]);
    // Their status is asked_503.
    expect(without(/^http_requests_total$/, /^$|status=~"5\.\."/)).toEqual([]);
  });

  it('has an entry of the runbook for each alert, and the runbook names no other', () => {
    const [, table = ''] = read('docs/runbook.md').split(/^## (?:Find the entry|The service)$/m);
    const named = [...table.matchAll(/^\| ([A-Z][A-Za-z, ]+) \| \S/gm)].flatMap(([, names = '']) =>
      names.split(', '),
    );
    expect(named.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });
});
