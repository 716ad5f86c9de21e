import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { table } from './output.js';

describe('the output of the operator’s commands', () => {
  it('keeps cells on one line and columns aligned, whatever text strangers wrote', () => {
    expect(table(['label', 'n'], [['a\nb\u001b[2J\u202e', 1]])).toBe(
      ['label                    n', '-----------------------  -', 'a\\u000ab\\u001b[2J\\u202e  1'].join(
        '\n',
      ),
    );
  });

  it('turns a table that is wider than the terminal into blocks, so that ids stay whole', () => {
    const rows = [
      ['ws_0123456789', 7],
      ['ws_abcdefghij', 12],
    ];
    expect(table(['workspace', 'events'], rows, 21)).toContain('-------------  ------');
    expect(table(['workspace', 'events'], rows, 20)).toBe(
      ['workspace  ws_0123456789', 'events     7', '', 'workspace  ws_abcdefghij', 'events     12'].join(
        '\n',
      ),
    );
  });

  it('goes through one function, because any other would print strangers’ text unescaped', () => {
    const folder = projectPath('apps/ops/src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const past = files
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.spec.ts'))
      .filter((name) =>
        /std(out|err)\.write|\bconsole\.(?!js)\w|, process\.std/.test(
          readFileSync(join(folder, name), 'utf8'),
        ),
      );
    // The parser's error output and a book to a pipe escape by themselves; another program reads the list of erasures; a
    // full disk is told in one sentence of our own.
    expect(past.toSorted()).toEqual([
      'backup/list-erased.ts',
      'commands/ledger.ts',
      'main.ts',
      'output.ts',
      'run.ts',
    ]);
  });
});
