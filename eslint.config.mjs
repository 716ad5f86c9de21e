import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * What the linter holds, beyond typescript-eslint's type-checked rules:
 *   1. domain events travel through the event store and nothing else;
 *   2. the event store's client is imported behind its port only;
 *   3. decisions and calculations are pure: time, ids and randomness are arguments.
 * Each is planted and caught in test/architecture. Borders between folders are .dependency-cruiser.mjs's.
 */

/** Folders whose code must answer the same to the same arguments, on any machine, at any time. */
const PURE = [
  'libs/*/src/domain/**/*.ts',
  'libs/numerology/src/**/*.ts',
  'libs/event-sourcing/src/core/**/*.ts',
];
const SPECS = ['**/*.spec.ts'];

const inMemoryEvents = {
  name: '@nestjs/cqrs',
  importNames: ['EventBus', 'EventPublisher', 'EventsHandler', 'AggregateRoot', 'Saga', 'ofType'],
  message: 'It is in memory and loses events in a crash. Append to the event store; react in a process.',
};
const eventStoreClient = {
  regex: '^@eventstore/db-client(/|$)',
  message: 'Use the EventStore port: its client has faults that libs/event-sourcing/src/store deals with.',
};
/** Of these modules the hashes are pure functions; keys, nonces, ids and streams are not. */
const impureCrypto = ['node:crypto', 'crypto'].map((name) => ({
  name,
  allowImportNames: ['createHash', 'createHmac', 'hash', 'timingSafeEqual'],
  message: 'Only hashing is pure. Take ids, keys and nonces as arguments.',
}));
const impureZlib = ['node:zlib', 'zlib'].map((name) => ({
  name,
  allowImportNames: ['crc32'],
  message: 'Only the checksum is pure.',
}));

const restrictedImports = (paths, patterns) => ({ 'no-restricted-imports': ['error', { paths, patterns }] });

const TAKE_TIME = 'Take the time as an argument: this code must decide the same in a replay.';
const TAKE_RANDOMNESS = 'Take random values as arguments: this code must decide the same in a replay.';
const TAKE_CONFIGURATION = 'Take configuration as an argument.';
const NO_MACHINE = "The answer would depend on the machine's time zone or language.";

const LOCAL_GETTERS =
  '/^(getTimezoneOffset|(get|set)(FullYear|Month|Date|Day|Hours|Minutes|Seconds)|toLocale(Date|Time)?String|toLocale(Upper|Lower)Case)$/';

const loadsPackage = {
  selector: 'ImportExpression[source.value=/^(?!node:|[.]|@app[/])/]',
  message:
    'A bundle loses the names of a CommonJS package here: re-export them from a module, and load that.',
};

const purity = {
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: TAKE_TIME },
    { object: 'performance', property: 'now', message: TAKE_TIME },
    { object: 'Math', property: 'random', message: TAKE_RANDOMNESS },
    { object: 'process', property: 'env', message: TAKE_CONFIGURATION },
  ],
  'no-restricted-globals': [
    'error',
    { name: 'crypto', message: TAKE_RANDOMNESS },
    ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map((name) => ({
      name,
      message: 'Pure code waits for nothing: a process or a job does.',
    })),
    { name: 'fetch', message: 'Pure code reaches nothing outside.' },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: TAKE_TIME },
    { selector: 'CallExpression[callee.name="Date"]', message: TAKE_TIME },
    { selector: `MemberExpression[property.name=${LOCAL_GETTERS}]`, message: NO_MACHINE },
    loadsPackage,
  ],
};

export default defineConfig(
  globalIgnores([
    'dist/',
    'out/',
    'coverage/',
    '.data/',
    '.cache/',
    'test/architecture/planted/',
    'libs/client/src/api.ts',
  ]),
  {
    // A rule that must be switched off in one place is wrong, or the place is.
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' },
  },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    // One program for the whole run costs less than the project service, which is made for editors.
    languageOptions: {
      parserOptions: {
        project: ['test/architecture/planted/lint/tsconfig.json', 'tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      ...restrictedImports([inMemoryEvents], [eventStoreClient]),
      eqeqeq: 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // `throw classify(error)` hands on what a library threw.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      // An async function may keep a promise-shaped port's promise without waiting for anything.
      '@typescript-eslint/require-await': 'off',
      // A promise returned inside `try` without `await` escapes its `catch` and `finally`.
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      // A view or a process may have a `default` for the events that do not concern it.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'error',
      '@typescript-eslint/no-unnecessary-template-expression': 'error',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
    },
  },
  {
    files: [
      'libs/event-sourcing/src/store/**/*.ts',
      'libs/embedded-event-store/**/*.ts',
      'test/contract/**/*.ts',
      // Appends what the port cannot: events without metadata, data that is no JSON.
      'test/e2e/support/malformed-events.ts',
    ],
    rules: restrictedImports([inMemoryEvents], []),
  },
  {
    // A decider may not: a new command or event has to be thought of wherever the old ones are.
    files: ['libs/*/src/domain/**/*.ts'],
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false },
      ],
    },
  },
  {
    files: PURE,
    ignores: [...SPECS, 'libs/event-sourcing/src/core/clock.ts'],
    rules: {
      ...restrictedImports([inMemoryEvents, ...impureCrypto, ...impureZlib], [eventStoreClient]),
      ...purity,
    },
  },
  {
    // Only the programs speak to a terminal; libraries have a logger.
    files: ['libs/*/src/**/*.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: [...SPECS, ...PURE],
    rules: { 'no-restricted-syntax': ['error', loadsPackage] },
  },
  {
    // HTTP answers and parsed JSON are `any` until an expectation has looked at them.
    files: [...SPECS, 'test/**/*.ts', 'libs/*/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
