import { beforeAll, describe, expect, it } from '@jest/globals';
import { relative } from 'node:path';
import { projectPath } from '@app/platform/project-path.js';
import { PLANTED_LINT, plantedExpectations, runTool } from './run-tool.js';

interface FileReport {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null; readonly message: string }[];
}

/** `rule: part of its message`, or only a part of the message for errors of the linter itself. */
const isCaughtAs = (expected: string, { ruleId, message }: FileReport['messages'][number]): boolean => {
  const [rule, part] = expected.includes(': ') ? expected.split(': ') : [null, expected];
  return rule === ruleId && message.includes(part);
};

describe('the linter', () => {
  const expectations = plantedExpectations(PLANTED_LINT);
  let reports: ReadonlyMap<string, FileReport>;

  beforeAll(async () => {
    const args = ['--config', projectPath('eslint.config.mjs'), '--format', 'json', '.'];
    const files = await runTool<readonly FileReport[]>('eslint/bin/eslint.js', args, PLANTED_LINT);
    reports = new Map(files.map((file) => [relative(PLANTED_LINT, file.filePath), file]));
  });

  it('checks every planted file', () => {
    expect([...reports.keys()].sort()).toEqual(Object.keys(expectations));
  });

  it.each(Object.entries(expectations).filter(([, expected]) => expected.length > 0))(
    'reports the planted faults in %s, and nothing else',
    (path, expected) => {
      const { messages } = reports.get(path)!;
      const caught = messages.map((message, index) =>
        expected[index] && isCaughtAs(expected[index], message)
          ? expected[index]
          : `${message.ruleId}: ${message.message}`,
      );
      expect(caught).toEqual(expected);
    },
  );

  it.each(Object.entries(expectations).filter(([, expected]) => expected.length === 0))(
    'accepts %s',
    (path) => {
      expect(reports.get(path)!.messages).toEqual([]);
    },
  );
});
