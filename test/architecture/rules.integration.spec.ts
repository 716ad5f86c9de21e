import { execFile } from 'node:child_process';
import {
  readdirSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/**
 * Runs a tool from node_modules as continuous integration does, and parses its JSON output. Ignores the exit code,
 * since a tool with findings exits with an error. @throws SyntaxError when the output is not JSON
 */
const runTool = <Report>(script: string, args: readonly string[], cwd: string): Promise<Report> =>
  new Promise((resolve, reject) => {
    const command = [projectPath('node_modules', script), ...args];
    // The tool must not inherit the test runner's options.
    const env = { ...process.env, NODE_OPTIONS: '' };
    execFile(process.execPath, command, { cwd, env, maxBuffer: 256 * 1024 * 1024 }, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Report);
      } catch {
        reject(
          new SyntaxError(`${script} printed no JSON: ${stdout.slice(0, 1_000)}${stderr.slice(0, 1_000)}`),
        );
      }
    });
  });

/** TypeScript files in a folder and its subfolders, as sorted relative paths. */
const typeScriptFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    .sort();

/** A file, its code, and the rules that must catch it, in the order of the faults; without any, it must be accepted. */
type Planted = readonly [path: string, code: string, ...rules: string[]];

const APPLICATION = 'libs/readings/src/application';
const DOMAIN = 'libs/readings/src/domain';
const CORE = 'libs/event-sourcing/src/core';

/** For the borders between folders (.dependency-cruiser.mjs). */
const BORDERS: readonly Planted[] = [
  // What the others import.
  ['libs/numerology/src/index.ts', `export const reduce = (value: number): number => value % 9;`],
  [`${CORE}/event.ts`, `import { createHash } from 'node:crypto'; export { z } from 'zod'; export const digest = createHash;`],
  ['libs/event-sourcing/src/store/event-store.ts', `export interface EventStore { readonly name: string }`],
  ['libs/event-sourcing/src/testing/given.ts', `export { constant } from 'fast-check';`],
  ['libs/platform/src/tokens.ts', `export const CLOCK = Symbol('Clock');`],
  ['libs/workspaces/src/contracts/events.ts', `export const opened = 'WorkspaceOpened';`],
  ['libs/readings/src/contracts/events.ts', `export { digest as requested } from '#event-sourcing/core/event.js';`],
  [
    `${DOMAIN}/reading.ts`,
    `import { createHash } from 'node:crypto';
    import { z } from 'zod';
    import { reduce } from '#numerology/index.js';
    import { requested } from '../contracts/events.js';
    export interface Reading { readonly id: string }
    export const reading = [createHash, z, reduce, requested];`,
  ],
  [`${APPLICATION}/known.ts`, `export const known = 1;`],
  [`${APPLICATION}/request/request.body.ts`, `export { IsString } from 'class-validator';`],
  ['libs/readings/src/http/reading.dto.ts', `export { IsString } from 'class-validator';`],
  ['libs/readings/src/readings.module.ts', `export class ReadingsModule {}`],
  ['libs/billing/src/contracts/events.ts', `export { requested } from '#readings/contracts/events.js';`],
  ['libs/billing/src/manifest.ts', `import { requested } from './contracts/events.js'; export const billing = requested;`, 'manifest-is-light'],
  ['libs/publishing/src/document/compose.ts', `export const compose = 1;`],
  ['apps/api/src/main.ts', `export { ReadingsModule } from '#readings/readings.module.js';`],
  ['test/support.ts', `export const support = 1;`],
  ['tools/content/check.ts', `export { compose } from '#publishing/document/compose.js';`],

  // Between modules: by name, by path, as a type, later.
  ['libs/publishing/src/application/other-domain.ts', `export { reading } from '#readings/domain/reading.js';`, 'module-border'],
  ['libs/publishing/src/application/by-path.ts', `export { reading } from '../../../readings/src/domain/reading.js';`, 'module-border'],
  ['libs/publishing/src/application/type.ts', `export type { Reading } from '#readings/domain/reading.js';`, 'module-border'],
  ['libs/publishing/src/application/later.ts', `export const later = (): unknown => import('#readings/domain/reading.js');`, 'module-border'],
  ['libs/webhooks/src/application/contract.ts', `export { requested } from '#readings/contracts/events.js';`],
  ['libs/workspaces/src/application/arrow.ts', `export { requested } from '#readings/contracts/events.js';`, 'workspaces-points-one-way'],
  [`${APPLICATION}/arrow.ts`, `export { requested } from '#billing/contracts/events.js';`, 'readings-points-one-way'],
  ['libs/publishing/src/application/arrow.ts', `export { requested } from '#billing/contracts/events.js';`, 'publishing-points-one-way'],
  ['libs/webhooks/src/contracts/events.ts', `export const deleted = 'WebhookEndpointDeleted';`],
  ['libs/billing/src/application/arrow.ts', `export { deleted } from '#webhooks/contracts/events.js';`, 'billing-points-one-way'],

  // Within a module.
  ['libs/readings/src/contracts/inside.ts', `export { reading } from '../domain/reading.js';`, 'contracts-show-no-inside'],
  ['libs/webhooks/src/contracts/commands.ts', `export { Command } from '@nestjs/cqrs';`, 'contracts-are-light'],
  ['libs/webhooks/src/settings.ts', `export { Injectable } from '@nestjs/common';`, 'manifest-is-light'],
  ['libs/readings/src/read-models/query.ts', `export { IsString } from '../http/reading.dto.js';`, 'http-is-the-outermost-layer'],
  [`${APPLICATION}/request/request.handler.ts`, `export { IsString } from './request.body.js';`, 'http-is-the-outermost-layer'],
  [`${APPLICATION}/validates.ts`, `export { IsString } from 'class-validator';`, 'class-validator-below-http-only'],
  [`${DOMAIN}/application.ts`, `export { known } from '../application/known.js';`, 'domain-knows-no-outer-layer'],
  [`${DOMAIN}/store.ts`, `export type { EventStore } from '#event-sourcing/store/event-store.js';`, 'domain-knows-no-outer-layer'],
  [`${DOMAIN}/nest.ts`, `export { Injectable } from '@nestjs/common';`, 'domain-does-no-io'],
  [`${DOMAIN}/postgres.ts`, `export type { Pool } from 'pg';`, 'domain-does-no-io'],
  [`${DOMAIN}/files.ts`, `export { readFileSync } from 'node:fs';`, 'domain-does-no-io'],
  [`${DOMAIN}/timers.ts`, `export { setTimeout } from 'node:timers/promises';`, 'domain-does-no-io'],

  // Below the modules.
  [`${CORE}/store.ts`, `export type { EventStore } from '../store/event-store.js';`, 'kernel-core-is-plain-typescript'],
  [`${CORE}/files.ts`, `export { readFileSync } from 'node:fs';`, 'kernel-core-is-plain-typescript'],
  ['libs/event-sourcing/src/projections/module.ts', `export { requested } from '#readings/contracts/events.js';`, 'kernel-knows-no-feature'],
  ['libs/event-sourcing/src/projections/platform.ts', `export { CLOCK } from '#platform/tokens.js';`, 'kernel-knows-no-feature'],
  ['libs/platform/src/module.ts', `export { requested } from '#readings/contracts/events.js';`, 'platform-knows-no-feature'],
  ['libs/numerology/src/files.ts', `export { readFileSync } from 'node:fs';`, 'numerology-stands-alone'],
  ['libs/numerology/src/package.ts', `export { z } from 'zod';`, 'numerology-stands-alone'],
  ['libs/embedded-event-store/src/kernel.ts', `export { digest } from '#event-sourcing/core/event.js';`, 'embedded-event-store-stands-alone'],
  ['libs/client/src/service.ts', `export { reading } from '../../readings/src/domain/reading.js';`, 'published-package-stands-alone'],

  // Programs, tests and tools.
  ['apps/ops/src/domain.ts', `export { reading } from '#readings/domain/reading.js';`, 'apps-are-put-together-from-modules'],
  ['apps/portal/src/manifest.ts', `export { billing } from '#billing/manifest.js';`, 'portal-asks-the-api'],
  [`${APPLICATION}/program.ts`, `export { ReadingsModule } from '../../../../apps/api/src/main.js';`, 'libs-never-import-apps'],
  ['apps/worker/src/support.ts', `export { support } from '../../../test/support.js';`, 'code-never-imports-tests'],
  [`${APPLICATION}/testing-tool.ts`, `export { constant } from '#event-sourcing/testing/given.js';`, 'code-never-imports-tests'],
  [`${APPLICATION}/tool.ts`, `export { compose } from '../../../../tools/content/check.js';`, 'service-runs-without-tools'],
  ['test/set-up.ts', `export { beforeAll } from '@jest/globals'; export const SETTINGS = {};`],
  ['test/bench/main.ts', `export { SETTINGS } from '../set-up.js';`, 'measurements-start-by-themselves'],
  ['tools/content/service.ts', `export { ReadingsModule } from '#readings/readings.module.js';`, 'tools-see-what-composes'],
  [`${APPLICATION}/development.ts`, `export { assert, type Arbitrary } from 'fast-check';`, 'code-ships-with-its-packages'],
  [`${APPLICATION}/development-type.ts`, `export type { Arbitrary } from 'fast-check';`],
  [`${APPLICATION}/left.ts`, `import { right } from './right.js'; export const left = (): unknown => right;`, 'no-circular-import'],
  [`${APPLICATION}/right.ts`, `import { left } from './left.js'; export const right = (): unknown => left;`],
  [`${APPLICATION}/lost.ts`, `export { nothing } from '#readings/domain/nothing.js';`, 'imports-resolve'],
]; // prettier-ignore

const IN_MEMORY = ['EventBus', 'EventPublisher', 'EventsHandler', 'AggregateRoot', 'Saga', 'ofType'];
const answerWith = (otherwise: string): string =>
  `export const answer = (outcome: 'accept' | 'reject'): number => {
    switch (outcome) { case 'accept': return 1; ${otherwise} }
  };`;

/** For the linter (oxlint.config.mjs). A rule of the table may name a part of its message. */
const LINT: readonly Planted[] = [
  [
    `${DOMAIN}/time.ts`,
    `export const instants = [Date.now(), new Date(), performance.now(), Date()];
    export const given = new Date(0);`,
    'eslint(no-restricted-properties): time',
    'own(no-current-date)',
    'eslint(no-restricted-properties): time',
    'own(no-current-date)',
  ],
  [
    `${DOMAIN}/randomness.ts`,
    `import { createHash, randomUUID } from 'node:crypto';
    import everything from 'node:crypto';
    export const values = [Math.random(), crypto.randomUUID(), randomUUID, everything, createHash];`,
    'eslint(no-restricted-imports): randomUUID',
    'eslint(no-restricted-imports): hashing',
    'eslint(no-restricted-properties): random',
    'eslint(no-restricted-globals): random',
  ],
  [
    `${DOMAIN}/machine.ts`,
    `export const year = (date: Date): number => date.getFullYear();
    export const text = (date: Date): string => date.toLocaleDateString();
    export const sure = (date: Date): number => date.getUTCFullYear();`,
    'eslint(no-restricted-properties): time zone',
    'eslint(no-restricted-properties): time zone',
  ],
  [
    `${DOMAIN}/waits.ts`,
    ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']
      .map((name) => `${name}(() => undefined);`)
      .concat(`export const page = fetch('https://example.com');`)
      .join('\n'),
    ...Array<string>(5).fill('eslint(no-restricted-globals)'),
  ],
  [`${DOMAIN}/configuration.ts`, `export const home = process.env['HOME'];`, 'eslint(no-restricted-properties): configuration'],
  [`${DOMAIN}/compression.ts`, `export { crc32, gzipSync } from 'node:zlib';`, 'eslint(no-restricted-imports): gzipSync'],
  [`${DOMAIN}/in-memory.ts`, `export { AggregateRoot } from '@nestjs/cqrs';`, 'eslint(no-restricted-imports): AggregateRoot'],
  [`${DOMAIN}/client.ts`, `export { EventStoreDBClient } from '@eventstore/db-client';`, 'eslint(no-restricted-imports): EventStore port'],
  [`${DOMAIN}/swallows.ts`, answerWith('default: return 0;'), 'typescript(switch-exhaustiveness-check): reject'],
  ['libs/readings/src/processes/ignores.ts', answerWith('default: return 0;')],
  ['libs/numerology/src/time.ts', `export const today = new Date();`, 'own(no-current-date)'],
  [`${CORE}/randomness.ts`, `export const id = Math.random();`, 'eslint(no-restricted-properties): random'],
  [`${CORE}/clock.ts`, `export const systemClock = { now: () => Date.now() };`],
  [`${APPLICATION}/time.ts`, `export const useCasesMayAskTheClock = Date.now();`],
  [
    `${APPLICATION}/in-memory.ts`,
    ['CommandBus', ...IN_MEMORY].map((name) => `export { ${name} } from '@nestjs/cqrs';`).join('\n'),
    ...IN_MEMORY.map((name) => `eslint(no-restricted-imports): ${name}`),
  ],
  [`${APPLICATION}/star.ts`, `import * as cqrs from '@nestjs/cqrs'; export const bus = cqrs.CommandBus;`, 'eslint(no-restricted-imports): in memory'],
  [`${APPLICATION}/client.ts`, `export { EventStoreDBClient } from '@eventstore/db-client';`, 'eslint(no-restricted-imports): EventStore port'],
  ['libs/event-sourcing/src/store/client.ts', `export { EventStoreDBClient } from '@eventstore/db-client';`],
  ['libs/event-sourcing/src/store/in-memory.ts', `export { EventBus } from '@nestjs/cqrs';`, 'eslint(no-restricted-imports): EventBus'],
  ['test/contract/client.ts', `export { EventStoreDBClient } from '@eventstore/db-client';`],
  [`${APPLICATION}/context.ts`, `export { AsyncLocalStorage } from 'node:async_hooks';`, 'eslint(no-restricted-imports): Pass ids as arguments'],
  [
    `${APPLICATION}/silenced.ts`,
    `// eslint-disable-next-line no-console
    console.log('a rule that must be switched off in one place is wrong, or the place is');`,
    'eslint(no-console)',
  ],
  [`${APPLICATION}/type.ts`, `export const credits: number = 'twenty';`, 'typescript(TS2322): not assignable'],
  [`${APPLICATION}/any.ts`, `export const anything: any = 1;`, 'typescript(no-explicit-any)'],
  [`${APPLICATION}/promise.ts`, `const work = (): Promise<void> => Promise.resolve(); work();`, 'typescript(no-floating-promises)'],
]; // prettier-ignore

/** Writes the files to a temporary folder, with the settings of the project and its packages. */
const plant = (files: readonly Planted[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  for (const name of ['package.json', 'tsconfig.json', 'oxlint.config.mjs', 'tools/lint-rules.mjs'])
    cpSync(projectPath(name), join(folder, name));
  symlinkSync(projectPath('node_modules'), join(folder, 'node_modules'));
  for (const [path, code] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${code}\n`);
  }
  return folder;
};

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

const CRUISED = ['apps', 'libs', 'test/bench', 'tools/content'];

/** @param config as seen from there */
const cruise = (cwd: string, config: string, ...options: string[]): Promise<Cruise> =>
  runTool<Cruise>(
    'dependency-cruiser/bin/dependency-cruise.mjs',
    ['--config', config, ...options, '--output-type', 'json', ...CRUISED],
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

let folders: readonly string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('borders between folders', () => {
  let planted: Cruise;
  let real: Cruise;

  beforeAll(async () => {
    const folder = plant(BORDERS);
    folders = [...folders, folder];
    // The project's is what `npm run lint:borders` keeps.
    const cache = ['--cache', '.cache/dependency-cruiser', '--cache-strategy', 'content'];
    [planted, real] = await Promise.all([
      cruise(folder, projectPath('.dependency-cruiser.mjs')),
      cruise(projectPath(), '.dependency-cruiser.mjs', ...cache),
    ]);
  });

  it('are each enforced by the rule that the table names, and by no other', () => {
    const caught = new Map(BORDERS.map(([path]): [string, string[]] => [path, []]));
    for (const { from, rule } of planted.summary.violations) caught.get(from)?.push(rule.name);
    expect(Object.fromEntries(caught)).toEqual(
      Object.fromEntries(BORDERS.map(([path, , ...rules]) => [path, rules])),
    );
  });

  it('have a planted violation and a reason for each rule', () => {
    const { forbidden } = planted.summary.ruleSetUsed;
    const caught = new Set(planted.summary.violations.map(({ rule }) => rule.name));
    expect(forbidden.filter(({ name, comment }) => !caught.has(name) || !comment)).toEqual([]);
    expect(forbidden.length).toBeGreaterThan(0);
  });

  it('are checked in every source file of the project', () => {
    const looked = new Set(real.modules.map(({ source }) => source));
    const files = CRUISED.flatMap((folder) =>
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

interface Diagnostic {
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly offset: number } }[];
}

const isCaughtAs = (expected: string, { code, message, help = '' }: Diagnostic): boolean => {
  const [rule, part = ''] = expected.split(': ');
  return rule === code && `${message} ${help}`.includes(part);
};

const offsetOf = ({ labels }: Diagnostic): number => labels[0]!.span.offset;

describe('the linter', () => {
  let report: { readonly number_of_files: number; readonly diagnostics: readonly Diagnostic[] };

  beforeAll(async () => {
    const folder = plant(LINT);
    folders = [...folders, folder];
    const settings = ['--config', 'oxlint.config.mjs', '--tsconfig', 'tsconfig.json', '--format', 'json'];
    report = await runTool('oxlint/bin/oxlint', [...settings, 'libs', 'test'], folder);
  });

  it('checks every planted file', () => {
    expect(report.number_of_files).toBe(LINT.length);
  });

  it.each(LINT.map(([path, , ...rules]) => [path, rules] as const))(
    'finds in %s what the table names, and nothing else',
    (path, expected) => {
      const caught = report.diagnostics
        .filter(({ filename }) => filename === path)
        .toSorted((one, other) => offsetOf(one) - offsetOf(other))
        .map((finding, index) =>
          expected[index] !== undefined && isCaughtAs(expected[index], finding)
            ? expected[index]
            : `${finding.code}: ${finding.message}`,
        );
      expect(caught).toEqual(expected);
    },
  );

  it('is switched off nowhere', () => {
    const silenced = ['apps', 'libs', 'test', 'tools']
      .flatMap((folder) => typeScriptFiles(projectPath(folder)).map((path) => projectPath(folder, path)))
      .filter((path) => /\/[/*]\s*oxlint-(disable|enable)/.test(readFileSync(path, 'utf8')));
    expect(silenced).toEqual([]);
  });
});
