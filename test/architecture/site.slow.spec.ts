import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HtmlValidate } from 'html-validate';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROBLEMS } from '#platform/http/problem.js';
import { projectPath } from '#platform/project-path.js';

const folder = mkdtempSync(join(tmpdir(), 'site-'));
/** What the site has, by address. */
const documents = new Map<string, string>();
let pages: readonly (readonly [string, string])[];

beforeAll(() => {
  const out = join(folder, 'site');
  execFileSync(process.execPath, [projectPath('tools/site/build-site.mjs'), out]);
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile())
      documents.set(file.slice(out.length).replace(/\.html$/, ''), readFileSync(file, 'utf8'));
  }
  pages = [...documents].filter(([, text]) => text.startsWith('<!DOCTYPE html>'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const validator = new HtmlValidate({
  extends: ['html-validate:recommended', 'html-validate:a11y'],
  rules: {
    // HTML allows it, and GitHub's anchors need it.
    'valid-id': ['error', { relaxed: true }],
    'no-missing-references': 'error',
    // The code of a page is as the library prints it.
    'void-style': 'off',
    'no-trailing-whitespace': 'off',
  },
});

/** Links of a page to nothing that is served, or to no anchor there. */
const brokenLinks = (path: string, html: string): readonly string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)]
    .map(([, link = '']) => link.replaceAll('&amp;', '&'))
    .filter((link) => {
      const url = new URL(link, `http://service${path}`);
      if (url.origin !== 'http://service') return url.protocol !== 'https:';
      const target = documents.get(url.pathname);
      if (target === undefined) return true;
      return url.hash !== '' && !target.includes(` id="${decodeURIComponent(url.hash.slice(1))}"`);
    });

describe('The documentation that the service serves', () => {
  it('has a page for every problem code, with an example', () => {
    const unexplained = Object.keys(PROBLEMS).filter((code) => !documents.has(`/docs/errors/${code}`));
    expect(unexplained).toEqual([]);
    const text = documents.get('/docs/errors/insufficient_credits.md')!;
    expect(text).toContain('"available": 10');
    expect(documents.get('/docs/errors')).toContain('href="errors/insufficient_credits"');
  });

  it('is for integrators: what operators and contributors read is not served', () => {
    const served = [...documents.keys()].filter((path) =>
      /operations|runbook|security|architecture|adr|telemetry|finance|scaling/.test(path),
    );
    expect(served).toEqual([]);
  });

  it('keeps no key in the browser: pages of the portal have the same origin', () => {
    const [options] = [...documents.get('/docs/assets/start.js')!.matchAll(/persistAuthorization: (\w+)/g)];
    expect(options?.[1]).toBe('false');
  });

  it('has no broken link', () => {
    expect(pages.length).toBeGreaterThan(60);
    const broken = pages.flatMap(([path, html]) => brokenLinks(path, html).map((link) => [path, link]));
    expect(broken).toEqual([]);
    expect(brokenLinks('/docs/api', '<a href="nowhere"></a><a href="webhooks#nowhere"></a>')).toHaveLength(2);
  });

  it('is the same as Markdown, with addresses of the service', () => {
    const addresses = [...documents].flatMap(([path, text]) =>
      path.endsWith('.md') ? [...text.matchAll(/\]\((\/[^)#]*)/g)].map(([, address = '']) => address) : [],
    );
    expect(addresses.length).toBeGreaterThan(100);
    expect(addresses.filter((address) => !documents.has(address))).toEqual([]);
    for (const [path] of pages) expect(documents.has(`${path}.md`)).toBe(true);
  });

  it('lists for programs only what is served', () => {
    const list = documents.get('/llms.txt')!;
    const addresses = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(8);
    expect(addresses.filter((address) => !documents.has(address))).toEqual([]);
  });

  it('is valid HTML, for screen readers too', async () => {
    const faults: string[] = [];
    // All pages of problems are made by one template.
    const alike = pages.filter(([path]) => path.startsWith('/docs/errors/')).slice(3);
    for (const [path, text] of pages.filter((page) => !alike.includes(page))) {
      const { results } = await validator.validateString(text);
      for (const { messages } of results)
        for (const { line, ruleId, message } of messages)
          faults.push(`${path}:${line}: ${ruleId}: ${message}`);
    }
    expect(faults).toEqual([]);
  });

  it('names every column of its tables, for those who hear them', () => {
    const nameless = pages.filter(([, text]) => /<th[^>]*>\s*<\/th>/.test(text));
    expect(nameless.map(([path]) => path)).toEqual([]);
  });

  it('loads nothing from other hosts, and has no inline script or style', () => {
    const loaded = pages.flatMap(([, text]) => [
      ...text.matchAll(/<(?:script|img|link)[^>]*(?:src|href)="([^"]+)"/g),
    ]);
    expect(loaded.length).toBeGreaterThan(100);
    expect(loaded.map(([, address]) => address).filter((address) => /^(\w+:|\/\/)/.test(address!))).toEqual(
      [],
    );
    expect(pages.filter(([, text]) => /<script>|<style| style="| on\w+="/.test(text))).toEqual([]);
  });

  it('says of each part in which language it is, for those who hear it', () => {
    for (const page of ['quick-start', 'going-live']) {
      expect(documents.get(`/docs/${page}`)).toContain('<html lang="en">');
      const french = documents.get(`/docs/fr/${page}`)!;
      expect(french).toContain('<html lang="fr">');
      expect(french).toContain('<nav id="all-pages" lang="en"');
      expect(french).toMatch(/<a href="quick-start"[^>]* lang="fr">Démarrage rapide<\/a>/);
    }
  });
});
