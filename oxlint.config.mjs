/**
 * Oxlint checks the code, and with it the types (`--type-check`). What it holds, beyond its rules for correctness:
 *   1. domain events travel through the event store and nothing else;
 *   2. the event store's client is imported behind its port only;
 *   3. decisions and calculations are pure: time, ids and randomness are arguments;
 *   4. ids of the running work are arguments, too.
 * Each is planted and caught in test/architecture/rules.integration.spec.ts. Borders between folders are .dependency-cruiser.mjs's.
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
  message: 'Use the EventStore port: the client has faults that libs/event-sourcing/src/store deals with.',
};
const ambientContext = ['node:async_hooks', 'async_hooks'].map((name) => ({
  name,
  message: 'Pass ids as arguments: on Node 20 and 22, its first use makes every promise dearer.',
}));
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
const TAKE_UTC = "The answer would depend on the machine's time zone or language.";
/** What reads a date, or changes a text, by the time zone or language of the machine. */
const LOCAL = [
  'getTimezoneOffset',
  ...['get', 'set'].flatMap((verb) =>
    ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds'].map((part) => `${verb}${part}`),
  ),
  ...['String', 'DateString', 'TimeString', 'UpperCase', 'LowerCase'].map((end) => `toLocale${end}`),
];
const TAKE_CONFIGURATION = 'Take configuration as an argument.';

const purity = {
  'own/no-current-date': 'error',
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: TAKE_TIME },
    { object: 'performance', property: 'now', message: TAKE_TIME },
    { object: 'Math', property: 'random', message: TAKE_RANDOMNESS },
    { object: 'process', property: 'env', message: TAKE_CONFIGURATION },
    ...LOCAL.map((property) => ({ property, message: TAKE_UTC })),
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
};
/** Overrides cannot leave files out: a later one switches the rules off again. */
const switchedOff = (rules) => Object.fromEntries(Object.keys(rules).map((rule) => [rule, 'off']));

const everywhere = restrictedImports([inMemoryEvents, ...ambientContext], [eventStoreClient]);

export default {
  plugins: ['typescript', 'oxc'],
  jsPlugins: ['./tools/lint-rules.mjs'],
  categories: { correctness: 'error' },
  options: { typeAware: true, typeCheck: true, denyWarnings: true, respectEslintDisableDirectives: false },
  env: { builtin: true, node: true },
  ignorePatterns: [
    'dist/',
    'out/',
    'coverage/',
    '.data/',
    '.cache/',
    'libs/client/src/api.ts',
    // Checked beside the generated code that it imports (test/generators/run.mjs).
    'test/generators/order-reading.mts',
  ],
  rules: {
    eqeqeq: 'error',
    'no-array-constructor': 'error',
    'no-case-declarations': 'error',
    'no-empty': 'error',
    'no-fallthrough': 'error',
    'no-prototype-builtins': 'error',
    'no-regex-spaces': 'error',
    'no-undef': 'error',
    'no-unexpected-multiline': 'error',
    'no-unused-vars': [
      'error',
      { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
    ],
    'no-var': 'error',
    'prefer-const': 'error',
    'prefer-rest-params': 'error',
    'prefer-spread': 'error',
    'preserve-caught-error': 'error',
  },
  overrides: [
    { files: ['tools/site/*.js', 'apps/portal/assets/*.js'], env: { browser: true } },
    {
      files: ['**/*.ts', '**/*.tsx'],
      rules: {
        ...everywhere,
        // The type check knows better.
        'no-undef': 'off',
        'typescript/ban-ts-comment': 'error',
        'typescript/no-deprecated': 'error',
        'typescript/no-empty-object-type': 'error',
        'typescript/no-explicit-any': 'error',
        'typescript/no-misused-promises': 'error',
        // Code points are what most spread strings are spread for.
        'typescript/no-misused-spread': 'off',
        'typescript/no-namespace': 'error',
        'typescript/no-require-imports': 'error',
        'typescript/no-unnecessary-boolean-literal-compare': 'error',
        'typescript/no-unnecessary-template-expression': 'error',
        'typescript/no-unnecessary-type-assertion': 'error',
        'typescript/no-unnecessary-type-constraint': 'error',
        'typescript/no-unsafe-argument': 'error',
        'typescript/no-unsafe-assignment': 'error',
        'typescript/no-unsafe-call': 'error',
        'typescript/no-unsafe-enum-comparison': 'error',
        'typescript/no-unsafe-function-type': 'error',
        'typescript/no-unsafe-member-access': 'error',
        'typescript/no-unsafe-return': 'error',
        // `throw classify(error)` hands on what a library threw.
        'typescript/only-throw-error': ['error', { allowThrowingUnknown: true }],
        'typescript/prefer-promise-reject-errors': 'error',
        // Strings sort as they should without one.
        'typescript/require-array-sort-compare': ['error', { ignoreStringArrays: true }],
        'typescript/restrict-plus-operands': 'error',
        // A promise returned inside `try` without `await` escapes its `catch` and `finally`.
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        // A view or a process may have a `default` for the events that do not concern it.
        'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
        'typescript/use-unknown-in-catch-callback-variable': 'error',
      },
    },
    {
      // A decider may not: a new command or event has to be thought of wherever the old ones are.
      files: ['libs/*/src/domain/**/*.ts'],
      rules: {
        'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: false }],
      },
    },
    {
      // Only the programs speak to a terminal; libraries have a logger.
      files: ['libs/*/src/**/*.ts'],
      rules: { 'no-console': 'error' },
    },
    {
      // Without types, everything in a template is an object.
      files: ['**/*.mjs'],
      rules: { 'typescript/no-base-to-string': 'off', 'typescript/restrict-template-expressions': 'off' },
    },
    {
      files: PURE,
      rules: {
        ...restrictedImports(
          [inMemoryEvents, ...ambientContext, ...impureCrypto, ...impureZlib],
          [eventStoreClient],
        ),
        ...purity,
      },
    },
    {
      files: ['libs/event-sourcing/src/core/clock.ts'],
      rules: { ...switchedOff(purity), ...everywhere },
    },
    {
      files: SPECS,
      rules: { ...switchedOff(purity), ...everywhere },
    },
    {
      files: [
        'libs/event-sourcing/src/store/**/*.ts',
        'libs/embedded-event-store/**/*.ts',
        'test/contract/**/*.ts',
        // Appends what the port cannot: events without metadata, data that is no JSON.
        'test/e2e/support/malformed-events.ts',
      ],
      rules: restrictedImports([inMemoryEvents, ...ambientContext], []),
    },
    {
      // HTTP answers and parsed JSON are `any` until an expectation has looked at them.
      files: [...SPECS, 'test/**/*.ts', 'libs/*/test/**/*.ts'],
      rules: {
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/require-array-sort-compare': 'off',
        'typescript/unbound-method': 'off',
      },
    },
  ],
};
