import { describe, expect, it } from '@jest/globals';
import { HtmlValidate } from 'html-validate';
import { PROBLEMS } from '@app/platform/http/problem.js';
import { apiDocument } from '../support/api-contract.js';
import { buildSite } from '../../tools/site/build-site.mjs';

const { documents, search, found } = buildSite();
const pages = documents.filter(({ mediaType }) => mediaType.startsWith('text/html'));
const paths = new Set(documents.map(({ path }) => path));
/** Served by the API itself. */
const OTHERS = /^\/(docs\/search|docs\/reference\/[\w.-]+)$/;

const validator = new HtmlValidate({
  extends: ['html-validate:recommended', 'html-validate:a11y'],
  rules: {
    // HTML allows it, and GitHub's anchors need it.
    'valid-id': ['error', { relaxed: true }],
    'input-missing-label': 'error',
    'no-missing-references': 'error',
  },
});

const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&#38;', '&'));

/** Links of a page to nothing that is served, or to no anchor there. */
const brokenLinks = ({ path, text }: { path: string; text: string }): readonly string[] =>
  linksOf(text).filter((link) => {
    const url = new URL(link, `http://service${path}`);
    if (url.origin !== 'http://service') return url.protocol !== 'https:';
    const page = documents.find((one) => one.path === url.pathname);
    if (!page) return !OTHERS.test(url.pathname);
    return url.hash !== '' && !page.text.includes(` id="${decodeURIComponent(url.hash.slice(1))}"`);
  });

describe('The documentation that the service serves', () => {
  it('has a page for every problem code, with an example', () => {
    const unexplained = Object.keys(PROBLEMS).filter((code) => !paths.has(`/docs/errors/${code}`));
    expect(unexplained).toEqual([]);
    const text = documents.find(({ path }) => path === '/docs/errors/insufficient_credits.md')!.text;
    expect(text).toContain('"available": 10');
    expect(text).toContain('`POST /api/v1/readings`');
  });

  it('shows every event type with its body, and every member', () => {
    const text = documents.find(({ path }) => path === '/docs/events.md')!.text;
    const types = Object.keys((apiDocument as unknown as { webhooks: object }).webhooks);
    expect(types.filter((type) => !text.includes(`"type": "${type}"`))).toEqual([]);
    for (const member of ['id', 'sequence', 'data.document.version', 'data.links.result'])
      expect(text).toContain(`| \`${member}\``);
  });

  it('is for integrators: what operators and contributors read is not served', () => {
    const served = [...paths].filter((path) =>
      /operations|security|architecture|adr|telemetry|finance|scaling/.test(path),
    );
    expect(served).toEqual([]);
  });

  it.each(pages.map((page) => [page.path, page] as const))('has no broken link on %s', (_, page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it.each([...pages.map(({ path, text }) => [path, text] as const), ['/docs/search', search] as const])(
    'is valid HTML on %s, for screen readers too',
    async (_, text) => {
      const { results } = await validator.validateString(text);
      const faults = results.flatMap(({ messages }) =>
        messages.map(({ line, ruleId, message }) => `${line}: ${ruleId}: ${message}`),
      );
      expect(faults).toEqual([]);
    },
  );

  it('names every column of its tables, for those who hear them', () => {
    const nameless = pages.filter(({ text }) => /<th[^>]*>\s*<\/th>/.test(text));
    expect(nameless.map(({ path }) => path)).toEqual([]);
  });

  it('loads nothing from other hosts, and has no inline script or style', () => {
    const loaded = pages.flatMap(({ text }) => [
      ...text.matchAll(/<(?:script|img|link rel="(?:stylesheet|icon)")[^>]*(?:src|href)="([^"]+)"/g),
    ]);
    expect(loaded.length).toBeGreaterThan(100);
    expect(loaded.map(([, address]) => address).filter((address) => /^(\w+:|\/\/)/.test(address!))).toEqual(
      [],
    );
    expect(pages.filter(({ text }) => /<script>|<style| style="| on\w+="/.test(text))).toEqual([]);
  });

  it('is in French where the page says so', () => {
    for (const path of ['/docs/quick-start', '/docs/going-live']) {
      const english = pages.find((page) => page.path === path)!.text;
      const french = pages.find((page) => page.path === path.replace('/docs/', '/docs/fr/'))!.text;
      expect(english).toContain('<html lang="en">');
      expect(english).toContain('hreflang="fr"');
      expect(french).toContain('<html lang="fr">');
      expect(french).toContain('hreflang="en"');
    }
  });

  it('says of each part in which language it is, for those who hear it', () => {
    const french = pages.filter(({ path }) => path.startsWith('/docs/fr/'));
    expect(french.length).toBeGreaterThan(1);
    for (const { text } of french) {
      expect(text).not.toMatch(/aria-label="(Table:|Link to)/);
      for (const title of ['Test mode', 'Webhooks', 'API reference'])
        expect(text).toMatch(new RegExp(`<a href="[^"]+" lang="en" hreflang="en">${title}</a>`));
      expect(text).not.toMatch(/class="group">(Start|Reference)</);
    }
    const languages = new Map(found.map(({ path, lang }) => [path, lang]));
    expect([languages.get('/docs/fr/quick-start'), languages.get('/docs/quick-start')]).toEqual(['fr', 'en']);
  });

  it('lists for programs only what is served', () => {
    const list = documents.find(({ path }) => path === '/llms.txt')!.text;
    const addresses = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(8);
    expect(addresses.filter((address) => !paths.has(address) && !OTHERS.test(address))).toEqual([]);
  });

  it('can be searched, down to the section', () => {
    expect(found.length).toBeGreaterThan(100);
    expect(found).toContainEqual(
      expect.objectContaining({ path: '/docs/webhooks#retries', title: 'Retries' }),
    );
    expect(new Set(found.map(({ path }) => path)).size).toBe(found.length);
  });
});
