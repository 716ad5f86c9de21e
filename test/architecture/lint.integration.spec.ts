import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';
import { PLANTED_LINT, plantedExpectations, runTool, typeScriptFiles } from './run-tool.js';

interface Diagnostic {
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly offset: number } }[];
}
interface Report {
  readonly number_of_files: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** `plugin(rule): part of its message`. */
const isCaughtAs = (expected: string, { code, message, help = '' }: Diagnostic): boolean => {
  const [rule, part = ''] = expected.split(': ');
  return rule === code && `${message} ${help}`.includes(part);
};

const offsetOf = ({ labels }: Diagnostic): number => labels[0]!.span.offset;

describe('the linter', () => {
  const expectations = plantedExpectations(PLANTED_LINT);
  let report: Report;

  const findingsIn = (path: string): readonly Diagnostic[] =>
    report.diagnostics
      .filter(({ filename }) => filename === path)
      .toSorted((a, b) => offsetOf(a) - offsetOf(b));

  beforeAll(async () => {
    const args = ['--config', 'oxlint.config.mjs', '--tsconfig', 'tsconfig.json', '--format', 'json', '.'];
    report = await runTool<Report>('oxlint/bin/oxlint', args, PLANTED_LINT);
  });

  it('checks every planted file', () => {
    const configuration = 1;
    expect(report.number_of_files).toBe(Object.keys(expectations).length + configuration);
  });

  it.each(Object.entries(expectations).filter(([, expected]) => expected.length > 0))(
    'reports the planted faults in %s, and nothing else',
    (path, expected) => {
      const caught = findingsIn(path).map((finding, index) =>
        expected[index] !== undefined && isCaughtAs(expected[index], finding)
          ? expected[index]
          : `${finding.code}: ${finding.message}`,
      );
      expect(caught).toEqual(expected);
    },
  );

  it.each(Object.entries(expectations).filter(([, expected]) => expected.length === 0))(
    'accepts %s',
    (path) => {
      expect(findingsIn(path)).toEqual([]);
    },
  );

  it('is switched off nowhere', () => {
    const silenced = ['apps', 'libs', 'test', 'tools']
      .flatMap((folder) => typeScriptFiles(projectPath(folder)).map((path) => projectPath(folder, path)))
      .filter((path) => /\/[/*]\s*oxlint-(disable|enable)/.test(readFileSync(path, 'utf8')));
    expect(silenced).toEqual([]);
  });
});
