import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { apiDocument } from '../support/api-contract.js';
import { Integrator } from '../support/integrator.js';
import { sharedStack, startReceiver, type Receiver, type Stack } from '../support/index.js';

const read = (file: string): string => readFileSync(projectPath(file), 'utf8');
const page = read('docs/api.md');
const snippetsOf = (text: string): string =>
  [...text.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, code = '']) => code).join('\n');
const folder = mkdtempSync(join(tmpdir(), 'api-docs-'));
let stack: Stack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 400);
  receiver = await startReceiver();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await receiver?.stop();
  await stack?.stop();
});

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
