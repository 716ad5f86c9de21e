/** SWC with the options of .swcrc and of Nest's builder. */
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

/**
 * The suites. A spec belongs to the first whose pattern its path matches, so that its name says what it needs or costs:
 * a unit spec needs only the sources, and takes a moment; CONTRIBUTING.md describes the others.
 */
const SUITES = {
  acceptance: '/test/acceptance/.+[.]spec[.]ts$',
  contract: '/test/contract/.+[.]spec[.]ts$',
  e2e: '/test/(e2e|security)/.+[.]spec[.]ts$',
  crash: '/test/crash/.+[.]spec[.]ts$',
  content: '/tools/content/.+[.]spec[.]ts$',
  integration: '[.]integration[.]spec[.]ts$',
  slow: '[.]slow[.]spec[.]ts$',
  unit: '[.]spec[.]ts$',
};

/** Specs that cannot run on another event store (TEST_EVENT_STORE_COMMAND), and why. */
const ONLY_EMBEDDED = {
  'test/e2e/restore-drill': 'it backs up, damages and restores the files of the embedded store',
  'test/security/forged-event': 'it attacks the login and the TLS of the embedded store',
};

const leftOut = process.env.TEST_EVENT_STORE_COMMAND ? Object.entries(ONLY_EMBEDDED) : [];
for (const [path, reason] of leftOut)
  process.stderr.write(`Left out on this event store: ${path}: ${reason}\n`);

/** Jest on native ESM: SWC compiles TypeScript (with decorator metadata for Nest), tests sit beside the code or under test/. */
export default {
  // Longer than anything takes that does not hang. What may be slow says how long it waits where it waits.
  testTimeout: 600_000,
  projects: Object.entries(SUITES).map(([displayName, pattern], place, suites) => ({
    displayName,
    testEnvironment: '<rootDir>/test/environment.mjs',
    extensionsToTreatAsEsm: ['.ts', '.tsx'],
    roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test', '<rootDir>/tools/content'],
    testRegex: pattern,
    testPathIgnorePatterns: [
      '/node_modules/',
      '/dist/',
      ...suites.slice(0, place).map(([, earlier]) => earlier),
      ...leftOut.map(([path]) => `/${path}[.]spec[.]ts$`),
    ],
    modulePathIgnorePatterns: ['<rootDir>/dist/'],
    moduleNameMapper: {
      '^#([^/]+)/(.*)\\.js$': '<rootDir>/libs/$1/src/$2',
      '^@reading-service/([^/]+)$': '<rootDir>/libs/$1/src/index',
      '^(\\.{1,2}/.*)\\.js$': '$1',
    },
    transform: {
      '^.+\\.ts$': compiled(false),
      '^.+\\.tsx$': compiled(true),
    },
  })),
};
