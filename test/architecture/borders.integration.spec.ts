import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '@app/platform/project-path.js';
import { PLANTED_BORDERS, plantedExpectations, runTool, typeScriptFiles } from './run-tool.js';

interface Cruise {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly resolved: string }[];
  }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
    readonly ruleSetUsed: {
      readonly forbidden: readonly { readonly name: string; readonly comment: string }[];
    };
  };
}

const cruise = (cwd: string, ...folders: readonly string[]): Promise<Cruise> =>
  runTool<Cruise>(
    'dependency-cruiser/bin/dependency-cruise.mjs',
    ['--config', projectPath('.dependency-cruiser.mjs'), '--output-type', 'json', ...folders],
    cwd,
  );

const MODULE = /^libs\/(workspaces|readings|publishing|billing|webhooks)\//;

/** `from → to` for each module that imports another one, without specs and test helpers. */
const arrowsIn = ({ modules }: Cruise): readonly string[] => {
  const arrows = modules.flatMap(({ source, dependencies }) =>
    dependencies.map(
      ({ resolved }) => [MODULE.exec(source)?.[1], MODULE.exec(resolved)?.[1], source] as const,
    ),
  );
  const between = arrows.filter(
    ([from, to, source]) => from && to && from !== to && !/[.]spec[.]ts$|[/]test[/]/.test(source),
  );
  return [...new Set(between.map(([from, to]) => `${from} → ${to}`))].sort();
};

describe('borders between folders', () => {
  let planted: Cruise;
  let real: Cruise;

  beforeAll(async () => {
    planted = await cruise(PLANTED_BORDERS, 'apps', 'libs');
    real = await cruise(projectPath(), 'apps', 'libs');
  });

  it('are each enforced by the rule that a planted file names, and by no other', () => {
    const caught: Record<string, string[]> = Object.fromEntries(
      Object.keys(plantedExpectations(PLANTED_BORDERS)).map((path) => [path, []]),
    );
    for (const { from, rule } of planted.summary.violations) caught[from]!.push(rule.name);
    expect(caught).toEqual(plantedExpectations(PLANTED_BORDERS));
  });

  it('have a planted violation and a reason for each rule', () => {
    const { forbidden } = planted.summary.ruleSetUsed;
    const caught = new Set(planted.summary.violations.map(({ rule }) => rule.name));
    expect(forbidden.filter(({ name, comment }) => !caught.has(name) || !comment)).toEqual([]);
    expect(forbidden.length).toBeGreaterThan(0);
  });

  it('are checked in every source file of the project', () => {
    const looked = new Set(real.modules.map(({ source }) => source));
    const files = ['apps', 'libs'].flatMap((folder) =>
      typeScriptFiles(projectPath(folder)).map((path) => `${folder}/${path}`),
    );
    expect(files.filter((path) => !looked.has(path))).toEqual([]);
    expect(files).toContain('libs/event-sourcing/src/core/event.ts');
  });

  it('match the drawing in docs/architecture.md, which gives a reason for each arrow', () => {
    const text = readFileSync(projectPath('docs', 'architecture.md'), 'utf8');
    const drawn = [...text.matchAll(/^ +(\w+) --> (\w+)$/gm)].map(([, from, to]) => `${from} → ${to}`);
    const reasons = [...text.matchAll(/^\| `(\w+ → \w+)` \| \S/gm)].map(([, arrow]) => arrow!);
    expect(drawn.sort()).toEqual(arrowsIn(real));
    expect(reasons.sort()).toEqual(arrowsIn(real));
  });

  it('are respected by the project', () => {
    expect(real.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });
});
