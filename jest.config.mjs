import { leftOut, specsOf } from './test/suites.mjs';

/** SWC with the same options as in tools/build.mjs, except the target. */
const compiled = (tsx) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true, tsx },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        useDefineForClassFields: false,
        react: { runtime: 'automatic', importSource: 'preact' },
      },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

/** Jest on native ESM: SWC compiles TypeScript (with decorator metadata for Nest), tests sit beside the code or under test/. */
export default {
  testEnvironment: '<rootDir>/test/environment.mjs',
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  // All specs, or those of one suite: see the scripts test:* in package.json.
  testRegex: specsOf(process.env.TEST_SUITE),
  globalSetup: '<rootDir>/test/packages/bundle.mjs',
  resolver: '<rootDir>/test/packages/resolve.cjs',
  testSequencer: '<rootDir>/test/sequencer.mjs',
  // The longest specs start processes and wait for them: two at once leave two cores half idle.
  ...(process.env.TEST_SUITE !== 'unit' && { maxWorkers: 3 }),
  setupFilesAfterEnv: ['<rootDir>/test/unit-guard.mjs', '<rootDir>/test/contract/time-limit.mjs'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    ...leftOut(process.env.TEST_EVENT_STORE_COMMAND, (line) => process.stderr.write(`${line}\n`)),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Of what hangs. What may be slow says how long it waits where it waits.
  testTimeout: 300_000,
  moduleNameMapper: {
    '^@app/([^/]+)/(.*)\\.js$': '<rootDir>/libs/$1/src/$2',
    '^@reading-service/([^/]+)$': '<rootDir>/libs/$1/src/index',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': compiled(false),
    '^.+\\.tsx$': compiled(true),
  },
};
