import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '@app/platform/project-path.js';
import { apiDocument } from '../support/api-contract.js';
import { Integrator } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

const page = readFileSync(projectPath('docs/api.md'), 'utf8');
const snippets = [...page.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, code = '']) => code);
const folder = mkdtempSync(join(tmpdir(), 'api-docs-'));
let stack: Stack;
let customer: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 400);
}, 90_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await stack?.stop();
});

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const curlIs = hasCurl ? '' : ' (skipped: curl is not installed)';
const written = (file: string): string => readFileSync(join(folder, file), 'utf8');

describe('docs/api.md', () => {
  (hasCurl ? it : it.skip)(
    `shows a shell that gets a reading in every format, and nothing twice${curlIs}`,
    () => {
      const { status, stderr } = spawnSync('sh', ['-e', '-c', snippets.join('\n')], {
        cwd: folder,
        env: { PATH: process.env['PATH'], BASE_URL: stack.baseUrl, API_KEY: customer.apiKey },
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect([status, stderr]).toEqual([0, '']);
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
