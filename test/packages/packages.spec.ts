import { describe, expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { projectPath } from '@app/platform/project-path.js';

type Resolve = (
  name: string,
  options: { basedir: string; defaultResolver: (name: string) => string },
) => string;
const resolve = createRequire(projectPath('package.json'))('./test/packages/resolve.cjs') as Resolve;

const resolvedFrom = (basedir: string): string =>
  resolve('zod', { basedir: projectPath(basedir), defaultResolver: () => 'the file of the package' });

describe('The packages of specs', () => {
  it('are loaded from bundles, also by a module that a spec imports', () => {
    const fault = z.string().transform(() => {
      throw new Error('of zod');
    });
    let stack = '';
    try {
      fault.parse('');
    } catch (error) {
      stack = String((error as Error).stack);
    }
    expect(stack).toContain('/.cache/test-packages/');
    expect(stack).not.toContain('/node_modules/zod/');
  });

  it('are bundles for our files, and files of their own for each other', () => {
    expect(resolvedFrom('libs/billing/src')).toMatch(/test-packages.*zod[.]mjs$/);
    expect(resolvedFrom('node_modules/@nestjs/swagger')).toBe('the file of the package');
  });
});
