import { describe, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { projectPath } from '@app/platform/project-path.js';
import { leftOut, ONLY_EMBEDDED, specsOf, suiteOf } from '../suites.mjs';
import { typeScriptFiles } from './run-tool.js';

const specs = ['apps', 'libs', 'test']
  .flatMap((folder) => typeScriptFiles(projectPath(folder)).map((path) => projectPath(folder, path)))
  .filter((path) => path.endsWith('.spec.ts'));

describe('the suites', () => {
  it.each([
    ['/home/me/project/libs/billing/src/a.spec.ts', 'unit'],
    ['/home/me/project/libs/billing/src/a.integration.spec.ts', 'integration'],
    ['/home/me/project/test/contract/event-store/a.spec.ts', 'integration'],
    ['/home/me/project/test/e2e/a.spec.ts', 'e2e'],
    ['/home/me/project/test/security/a.spec.ts', 'e2e'],
    ['/home/me/project/test/crash/a.spec.ts', 'crash'],
  ])('%s belongs to %s', (path, suite) => {
    expect(suiteOf(path)).toBe(suite);
  });

  it('contain each spec exactly once', () => {
    for (const suite of ['unit', 'integration', 'e2e', 'crash'])
      expect(specs.filter((path) => new RegExp(specsOf(suite)).test(path))).toEqual(
        specs.filter((path) => suiteOf(path) === suite),
      );
    expect(specs.filter((path) => !new RegExp(specsOf(undefined)).test(path))).toEqual([]);
  });

  it('have no other names', () => {
    expect(() => specsOf('units')).toThrow('TEST_SUITE is units: use e2e, crash, integration, unit.');
  });
});

describe('on another event store', () => {
  it('specs of the embedded one are left out, each with its reason', () => {
    const said: string[] = [];
    const patterns = leftOut('eventstored', (line) => said.push(line)).map((text) => new RegExp(text));
    expect(said).toHaveLength(Object.keys(ONLY_EMBEDDED).length);
    expect(specs.filter((path) => patterns.some((pattern) => pattern.test(path)))).toEqual(
      Object.keys(ONLY_EMBEDDED).map((path) => projectPath(`${path}.spec.ts`)),
    );
    expect(leftOut(undefined, (line) => said.push(line))).toEqual([]);
    expect(said).toHaveLength(patterns.length);
  });
});

/** This spec is a unit spec itself. */
describe('a unit spec', () => {
  it.each([
    ['listen', () => createServer().listen(0)],
    ['connect', () => connect(1)],
    ['spawn', () => spawn('true')],
    ['spawnSync', () => spawnSync('true')],
  ])('that would %s fails with the file name to use', (method, attempt) => {
    expect(attempt).toThrow(`A unit spec does not ${method}: name it *.integration.spec.ts.`);
  });
});
