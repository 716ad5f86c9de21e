import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';

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
  };
}

const FOLDERS = ['apps', 'libs', 'tools/content'];
const cruise = (): Promise<Cruise> =>
  new Promise((resolve, reject) => {
    const tool = projectPath('node_modules', 'dependency-cruiser/bin/dependency-cruise.mjs');
    const args = [
      tool,
      '--config',
      projectPath('.dependency-cruiser.mjs'),
      '--output-type',
      'json',
      ...FOLDERS,
    ];
    // The tool must not inherit the test runner's options. With findings, it exits with an error.
    const options = { cwd: projectPath(), env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 2 ** 28 };
    execFile(process.execPath, args, options, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Cruise);
      } catch {
        reject(new SyntaxError(`dependency-cruiser printed no JSON: ${stderr.slice(0, 1_000)}`));
      }
    });
  });

/** TypeScript files in a folder and its subfolders, as relative paths. */
const typeScriptFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.tsx?$/.test(path) && !path.includes('node_modules'),
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
  let real: Cruise;
  beforeAll(async () => {
    real = await cruise();
  });

  it('are checked in every source file of the project', () => {
    const looked = new Set(real.modules.map(({ source }) => source));
    const files = FOLDERS.flatMap((folder) =>
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

it('The linter is switched off nowhere', () => {
  const silenced = ['apps', 'libs', 'test', 'tools']
    .flatMap((folder) => typeScriptFiles(projectPath(folder)).map((path) => projectPath(folder, path)))
    .filter((path) => /\/[/*]\s*oxlint-(disable|enable)/.test(readFileSync(path, 'utf8')));
  expect(silenced).toEqual([]);
});
