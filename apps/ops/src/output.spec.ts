import { describe, expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '@app/platform/project-path.js';
import { table } from './output.js';

describe('the output of the operator’s commands', () => {
  it('keeps a cell in one line and its columns in their places, whatever strangers wrote', () => {
    expect(table(['label', 'n'], [['a\nb\u001b[2J\u202e', 1]])).toBe(
      ['label                    n', '-----------------------  -', 'a\\u000ab\\u001b[2J\\u202e  1'].join(
        '\n',
      ),
    );
  });

  it('leaves by one door: a command that writes past it would print what strangers wrote as it is', () => {
    const folder = projectPath('apps/ops/src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const past = files
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .filter((name) =>
        /std(out|err)\.write|console\.|, process\.std/.test(readFileSync(join(folder, name), 'utf8')),
      );
    // The error output of the parser, and a book to a pipe; both escape by themselves.
    expect(past.toSorted()).toEqual(['commands/ledger/export.ts', 'output.ts', 'run.ts']);
  });
});
