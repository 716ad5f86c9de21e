import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { recoveryAfter, type Recovery } from './fault.js';
import { recoveryTable, withRecoveries } from './table.js';

const row = (fault: string, seconds: number, otherSide: number | null = null): Recovery => ({
  fault,
  measured: 'a POST',
  seconds,
  otherSide,
  failing: 0,
});

describe('the table of recoveries', () => {
  it('replaces a row in its place, keeps the others and adds new ones', () => {
    const page = `# A page\n\n${recoveryTable([row('one', 1), row('two', 2, 1)])}\n\nAfterwards.\n`;
    expect(withRecoveries(page, [row('three', 3), row('one', 9)])).toBe(
      `# A page\n\n${recoveryTable([row('one', 9), row('two', 2, 1), row('three', 3)])}\n\nAfterwards.\n`,
    );
  });

  it('is found in the page for operators', () => {
    const page = readFileSync(projectPath('docs/operations.md'), 'utf8');
    expect(withRecoveries(page, [row('another', 1)])).toContain('| another | a POST | 1.0 |  | 0.0 |');
  });

  it('is refused where there is none', () => {
    expect(() => withRecoveries('# A page', [])).toThrow('no table');
  });
});

describe('the recovery from a fault', () => {
  it('ends with the first success after the last failure', async () => {
    let failuresLeft = 0;
    let calls = 0;
    const { seconds, failing } = await recoveryAfter(
      async () => {
        calls += 1;
        // A success among failures is no recovery.
        if (failuresLeft > 0 && calls !== 3) {
          failuresLeft -= 1;
          throw new Error('away');
        }
      },
      () => void (failuresLeft = 5),
    );
    expect(failuresLeft).toBe(0);
    // Six calls before it, 50 ms apart.
    expect(seconds).toBeGreaterThan(0.25);
    expect(failing).toBe(0.25);
  });
});
