import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { apiDocument } from '../support/api-contract.js';
import { Integrator } from '../support/integrator.js';
import { fixture, sharedStack, startReceiver } from '../support/index.js';

const read = (file: string): string => readFileSync(projectPath(file), 'utf8');
const page = read('docs/api.md');
const snippetsOf = (text: string): string =>
  [...text.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, code = '']) => code).join('\n');
const folder = mkdtempSync(join(tmpdir(), 'api-docs-'));
const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 400));
const receiver = fixture(startReceiver);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const curlIs = hasCurl ? '' : ' (skipped: curl is not installed)';
const written = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** Runs the shell of a page as a reader would. @returns the exit code and what went wrong */
const runSnippets = (text: string): readonly [number | null, string] => {
  const { status, stderr } = spawnSync('sh', ['-e', '-c', snippetsOf(text)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      BASE_URL: stack.baseUrl,
      API_KEY: customer.apiKey,
      RECEIVER_URL: receiver.url,
    },
    encoding: 'utf8',
    timeout: 240_000,
  });
  return [status, stderr];
};

describe('The quick start', () => {
  (hasCurl ? it : it.skip).each([
    ['docs/quick-start.md', 'en-US'],
    ['docs/fr/quick-start.md', 'fr-FR'],
  ])(`in %s leads from a key to a PDF and a webhook endpoint${curlIs}`, (file, locale) => {
    expect(runSnippets(read(file))).toEqual([0, '']);
    expect(JSON.parse(written('reading.json'))).toMatchObject({ status: 'completed', locale });
    expect(JSON.parse(written('result.json'))).toMatchObject({ productId: 'theme' });
    expect(written('reading.pdf').slice(0, 5)).toBe('%PDF-');
    expect(JSON.parse(written('endpoint.json'))).toHaveProperty('signingSecret');
  });
});

describe('docs/api.md', () => {
  (hasCurl ? it : it.skip)(
    `shows a shell that gets a reading in every format, and nothing twice${curlIs}`,
    () => {
      expect(runSnippets(page)).toEqual([0, '']);
      expect(written('headers.txt')).toMatch(/^HTTP\/1.1 202/);
      expect(JSON.parse(written('reading.json'))).toMatchObject({ status: 'completed' });
      expect(JSON.parse(written('result.json'))).toMatchObject({ productId: 'theme' });
      expect(JSON.parse(written('document.document_v1'))).toMatchObject({ locale: 'fr-FR' });
      expect(written('document.markdown')).toMatch(/^# |^---/);
      expect(written('document.pdf').slice(0, 5)).toBe('%PDF-');
      expect(written('not-modified.txt').trim()).toBe('304');
    },
  );

  it('names no path, header or code that the API does not have', () => {
    const paths = [...page.matchAll(/`(?:GET|POST|DELETE|PATCH) (\/[\w/{}.]+)`/g)].map(([, path = '']) =>
      path.startsWith('/api') || path.startsWith('/schemas') ? path : `/api/v1${path}`,
    );
    expect(paths.length).toBeGreaterThan(4);
    expect(paths.filter((path) => !(path in apiDocument.paths))).toEqual([]);
    const codes = [...page.matchAll(/\b(?:4\d\d|503) `(\w+)`/g)].map(([, code = '']) => code);
    const known = JSON.stringify(apiDocument.components.schemas['Problem']);
    expect(codes.length).toBeGreaterThan(6);
    expect(codes.filter((code) => !known.includes(`"${code}"`))).toEqual([]);
  });
});

describe('The documentation', () => {
  const served = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${stack.baseUrl}${path}`, { headers, redirect: 'manual' });

  it.each(['/docs', '/docs/reference', '/docs/errors/not_found', '/changelog'])(
    'loads on %s only assets that the service serves',
    async (path) => {
      const answer = await served(path);
      const html = await answer.text();
      const policy = answer.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'self'");
      expect(policy?.includes('unsafe-inline')).toBe(path === '/docs/reference');
      const parts = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address);
      expect(parts.length).toBeGreaterThan(3);
      for (const part of new Set(parts.filter((address) => !address.startsWith('https:')))) {
        const url = new URL(part, answer.url);
        expect(url.origin).toBe(stack.baseUrl);
        expect([part, (await fetch(url)).status]).toEqual([part, 200]);
      }
      expect(html).not.toMatch(/<script>[^<]/);
    },
  );

  it('is where a problem leads', async () => {
    const refusal = await served('/api/v1/credits');
    const [, address = ''] = /^<(.+)>; rel="help"$/.exec(refusal.headers.get('link') ?? '') ?? [];
    expect(await (await served(address)).text()).toContain('<h1 id="unauthenticated">');
  });

  it('begins at / with links for people, and with addresses for programs', async () => {
    const { headers } = await served('/', { accept: 'text/html,*/*;q=0.8' });
    const told = [headers.get('content-type'), headers.get('vary')];
    expect(told).toEqual(['text/html; charset=utf-8', 'Accept']);
    const addresses = Object.entries((await (await served('/')).json()) as Record<string, string>);
    for (const [name, address] of addresses.filter(([, value]) => value.startsWith('/')))
      expect([name, (await served(address)).status]).toEqual([name, 200]);
  });
});
