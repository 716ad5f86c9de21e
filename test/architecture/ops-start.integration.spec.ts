import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';

const PACKAGES = ['@nestjs/(core|cqrs|swagger|platform-express)', 'express', 'class-(validator|transformer)'];
const TOOLS = [
  '@eventstore/db-client',
  'graphile-worker',
  'node-pg-migrate',
  'prom-client',
  '@myriaddreamin',
];
/** Nest's index loads its pipes and validators; single files of the package are fine. */
const FRAMEWORK = '@nestjs/common/index[.]js$';
const HEAVY = `/node_modules/((${[...PACKAGES, ...TOOLS].join('|')})/|${FRAMEWORK})`;

const asModule = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Refuses to load heavy packages, and says which file asked for one. */
const hook = asModule(`
  const heavy = new RegExp(${JSON.stringify(HEAVY)});
  export const resolve = async (specifier, context, next) => {
    const found = await next(specifier, context);
    if (heavy.test(found.url)) throw new Error('HEAVY ' + specifier + ' by ' + context.parentURL);
    return found;
  };`);

/** Runs the statements in a process in which loading a heavy package fails. @returns its standard error */
const loaded = async (statements: string): Promise<string> => {
  const start = asModule(`import { register } from 'node:module'; register(${JSON.stringify(hook)});`);
  const args = ['--import', start, '--input-type=module', '--eval', statements];
  // The process must not inherit the test runner's options.
  const env = { ...process.env, NODE_OPTIONS: '' };
  try {
    return (await promisify(execFile)(process.execPath, args, { env })).stderr;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
};

const ops = (file: string): string =>
  JSON.stringify(pathToFileURL(projectPath('dist/apps/ops/src', file)).href);

describe('the help of the operator’s commands', () => {
  it('loads neither the framework nor what only some commands use', async () => {
    const statements = `
      const { TOP_COMMANDS } = await import(${ops('commands.js')});
      for (const { load } of TOP_COMMANDS) await load();`;
    expect(await loaded(statements)).toBe('');
  });

  it('would be caught loading any of it', async () => {
    const names = ['@nestjs/core', '@nestjs/common', 'express', '@eventstore/db-client'];
    const statements = `
      for (const name of ${JSON.stringify(names)})
        await import(name).catch(({ message }) => console.error(message.replace(/ by .*/, '')));`;
    expect(await loaded(statements)).toBe(names.map((name) => `HEAVY ${name}\n`).join(''));
  });
});
