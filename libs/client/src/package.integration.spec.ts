import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectPath } from '../../platform/src/project-path.js';

const source = projectPath('libs', 'client');
const folder = mkdtempSync(join(tmpdir(), 'client-'));
const modules = join(folder, 'node_modules');

/** Compiles a package of this repository and puts it where an installation from a registry would put it. */
const install = (name: string): void => {
  const staged = join(folder, name);
  const installed = join(modules, '@reading-service', name);
  mkdirSync(installed, { recursive: true });
  cpSync(projectPath('libs', name), staged, {
    recursive: true,
    filter: (path) => !path.endsWith('.spec.ts'),
  });
  cpSync(join(staged, 'package.json'), join(installed, 'package.json'));
  const tsc = projectPath('node_modules', 'typescript', 'bin', 'tsc');
  const to = ['--outDir', join(installed, 'dist'), '--typeRoots', projectPath('node_modules', '@types')];
  const { status, stdout } = spawnSync(process.execPath, [
    tsc,
    '-p',
    join(staged, 'tsconfig.package.json'),
    ...to,
  ]);
  expect([name, status, stdout.toString()]).toEqual([name, 0, '']);
};

beforeAll(() => {
  install('webhook-verifier');
  install('client');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('The package', () => {
  it('needs only the verifier and works once installed', () => {
    const { dependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(Object.keys(dependencies)).toEqual(['@reading-service/webhook-verifier']);
    const file = join(folder, 'use.mjs');
    writeFileSync(
      file,
      `import * as all from '@reading-service/client';
       new all.ReadingServiceClient({ baseUrl: 'https://readings.example.com', apiKey: 'k' });
       console.log(Object.keys(all).sort().join(' '));`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [file]);
    expect(stderr.toString()).toBe('');
    expect(stdout.toString().trim().split(' ')).toEqual([
      'Events',
      'Keys',
      'Portal',
      'ProblemError',
      'ReadingServiceClient',
      'Readings',
      'ServiceUnreachable',
      'StillUnderWay',
      'WebhookVerificationError',
      'Webhooks',
      'etagOf',
      'verifyWebhook',
    ]);
  });

  it('has the types of the current OpenAPI document', () => {
    const generated = join(folder, 'api.ts');
    const program = projectPath('node_modules', 'openapi-typescript', 'bin', 'cli.js');
    const { status } = spawnSync(process.execPath, [
      program,
      projectPath('docs', 'openapi.json'),
      '-o',
      generated,
      '--root-types',
      '--root-types-no-schema-prefix',
    ]);
    expect(status).toBe(0);
    const same = readFileSync(generated, 'utf8') === readFileSync(join(source, 'src', 'api.ts'), 'utf8');
    expect(same ? 'as generated' : 'differs: npm run openapi').toBe('as generated');
  });
});
