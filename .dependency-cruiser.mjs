/**
 * The borders between folders (docs/adr/0001). Type-only imports count: a border is about who knows whom.
 * Each rule has a violation in test/architecture/rules.integration.spec.ts, which shows that it is caught.
 *
 * The forbidden list reads: `from` may not import `to`. In `pathNot`, `$1` is what the group in `from.path` matched.
 */
const MODULE = '(workspaces|readings|publishing|billing|webhooks)';
const SPEC = '[.]spec[.]ts$';
/** What specs share to start what they need, in a testing/ folder beside them. */
const SPEC_SETUP = '/testing/[^/]+-under-test[.]ts$';
/** Builders, fixtures and doubles that specs share. */
const TESTING = ['^(apps|libs)/[^/]+/test/', '^(apps|libs)/.+/testing/'];
/** Routes, bodies and schemas, beside their use case or in http/: the outermost layer. */
const HTTP_LAYER = [
  '^libs/[^/]+/src/http/',
  '^libs/[^/]+/src/.+[.](controller|body|schemas|guard)([.]integration)?([.]spec)?[.]ts$',
];
const KERNEL_CORE = '^libs/event-sourcing/src/core/';
const CONTRACTS = `^libs/${MODULE}/src/contracts/`;
/** The base classes of messages, and types and shapes that several modules answer with. */
const MESSAGE = '^libs/platform/src/(cqrs/message|http/openapi/shapes|retention/retention-status)[.]ts$';

/** Packages are matched inside their path: the folder that holds node_modules differs from machine to machine. */
const PACKAGE = 'node_modules/';
const ZOD = `${PACKAGE}zod/`;
/** Packages that are functions of their arguments: shapes, and the arithmetic of IP addresses. */
const PURE_PACKAGES = `${PACKAGE}(zod|ipaddr[.]js)/`;
/** Node's own modules that hold pure functions; the linter allows only those (hashes, checksums) by name. */
const HASHING = '^(node:)?(crypto|zlib)$';
/** Packages and Node's own modules, in contrast to our folders. */
const OUTSIDE_CODE = [
  'core',
  'npm',
  'npm-dev',
  'npm-optional',
  'npm-peer',
  'npm-no-pkg',
  'npm-unknown',
  'unknown',
];
const DEV_PACKAGE = ['npm-dev', 'npm-no-pkg'];

const rule = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

/**
 * One-way arrows: the modules whose contracts a module may import. docs/architecture.md draws them, with a reason for
 * each. A module that needs something of one that imports it owns a port instead (libs/readings/src/contracts/ports.ts).
 */
const IMPORTS = {
  workspaces: [],
  readings: [],
  publishing: ['workspaces', 'readings'],
  billing: ['readings', 'publishing', 'workspaces'],
  webhooks: ['workspaces', 'readings', 'publishing', 'billing'],
};

/** A module that may import all others needs no rule. */
const limited = Object.entries(IMPORTS).filter(
  ([, imports]) => imports.length < Object.keys(IMPORTS).length - 1,
);
const arrows = limited.map(([module, imports]) =>
  rule(
    `${module}-points-one-way`,
    `Arrows between modules form no circle. Of other modules, ${module} imports ${imports.join(', ') || 'none'}.`,
    { path: `^libs/${module}/` },
    { path: `^libs/${MODULE}/`, pathNot: [module, ...imports].map((one) => `^libs/${one}/`) },
  ),
);

const modules = [
  rule(
    'module-border',
    'A module knows of another module only what its contracts/ folder offers: events, commands, queries, errors.',
    { path: `^libs/${MODULE}/` },
    { path: `^libs/${MODULE}/`, pathNot: ['^libs/$1/', CONTRACTS] },
  ),
  rule(
    'contracts-show-no-inside',
    'contracts/ is what others import: it imports nothing of its module’s inside, or the inside would leak through it.',
    { path: `^libs/${MODULE}/src/contracts/` },
    { path: '^(apps|libs|test)/', pathNot: [CONTRACTS, KERNEL_CORE, MESSAGE, '^libs/numerology/src/'] },
  ),
  rule(
    'contracts-are-light',
    'The operator’s CLI loads contracts to print its help: commands and queries extend libs/platform/src/cqrs/message.ts.',
    { path: [CONTRACTS, `^libs/${MODULE}/src/projections[.]ts$`] },
    { path: `${PACKAGE}@nestjs/` },
  ),
  rule(
    'manifest-is-light',
    'Every program reads the manifests, also one that only prints its help: they load neither framework nor driver.',
    { path: `^libs/${MODULE}/src/(manifest|settings)[.]ts$` },
    {
      pathNot: [
        '^libs/$1/src/settings[.]ts$',
        '^libs/platform/src/(manifest|config/settings?)[.]ts$',
        PURE_PACKAGES,
        `${PACKAGE}jose/`,
      ],
    },
  ),
  rule(
    'http-is-the-outermost-layer',
    'Nothing inside a module knows that HTTP exists: the same use cases serve the worker and the operator’s CLI.',
    { path: `^libs/${MODULE}/src/(domain|application|processes|read-models)/`, pathNot: HTTP_LAYER },
    { path: HTTP_LAYER },
  ),
  rule(
    'domain-knows-no-outer-layer',
    'A domain folder sees itself, contracts, the kernel’s core and numerology: decisions do not depend on who asks or stores.',
    { path: `^libs/${MODULE}/src/domain/`, pathNot: SPEC },
    {
      path: '^(apps|libs|test)/',
      pathNot: ['^libs/$1/src/domain/', CONTRACTS, KERNEL_CORE, '^libs/numerology/src/'],
    },
  ),
  rule(
    'domain-does-no-io',
    'A domain folder uses no framework, driver or I/O: only zod, ipaddr.js and the hashes of node:crypto and node:zlib are pure.',
    { path: `^libs/${MODULE}/src/domain/`, pathNot: SPEC },
    { dependencyTypes: OUTSIDE_CODE, pathNot: [PURE_PACKAGES, HASHING] },
  ),
  rule(
    'published-package-stands-alone',
    'The client and the webhook verifier are installed by people who have nothing else of this repository.',
    { path: '^libs/(client|webhook-verifier)/src/', pathNot: SPEC },
    {
      path: ['^(apps|libs|test)/', PACKAGE],
      pathNot: ['^libs/$1/src/', '^libs/webhook-verifier/src/index[.]ts$'],
    },
  ),
  rule(
    'class-validator-below-http-only',
    'Validating decorators describe HTTP bodies. Elsewhere zod describes shapes (docs/adr/0003).',
    { path: '^(apps|libs)/', pathNot: ['^libs/[^/]+/src/http/', '^libs/[^/]+/src/.+[.]body[.]ts$'] },
    { path: `${PACKAGE}class-(validator|transformer)/` },
  ),
];

const foundations = [
  rule(
    'kernel-core-is-plain-typescript',
    'The kernel’s core runs without Nest, a database or I/O: only zod, and node:crypto and node:zlib for hashes.',
    { path: KERNEL_CORE, pathNot: SPEC },
    { pathNot: [KERNEL_CORE, ZOD, HASHING] },
  ),
  rule(
    'kernel-knows-no-feature',
    'The kernel is the same for every service: it knows no feature module, no platform, no program.',
    { path: '^libs/event-sourcing/', pathNot: [SPEC, SPEC_SETUP] },
    { path: '^(apps|libs|test)/', pathNot: '^libs/event-sourcing/' },
  ),
  rule(
    'numerology-stands-alone',
    'The calculation is arithmetic on a name and a date: it imports nothing outside itself, not even of Node.',
    { path: '^libs/numerology/src/', pathNot: SPEC },
    { pathNot: '^libs/numerology/src/' },
  ),
  rule(
    'embedded-event-store-stands-alone',
    'The embedded event store speaks EventStoreDB’s protocol and knows nothing of who uses it.',
    { path: '^libs/embedded-event-store/' },
    { path: '^(apps|libs|test)/', pathNot: '^libs/embedded-event-store/' },
  ),
  rule(
    'platform-knows-no-feature',
    'The platform serves the modules and knows none of them.',
    { path: '^libs/platform/', pathNot: [SPEC, SPEC_SETUP] },
    { path: '^(apps|libs|test)/', pathNot: '^libs/(platform|event-sourcing)/' },
  ),
];

const programs = [
  rule(
    'apps-are-put-together-from-modules',
    'A program composes modules: of a feature it imports *.module.ts, its contracts, projections, manifest, and what works without a connection (offline.ts).',
    { path: '^apps/', pathNot: [SPEC, ...TESTING] },
    {
      path: `^libs/${MODULE}/`,
      pathNot: [CONTRACTS, `^libs/${MODULE}/src/([^/]+[.]module|projections|manifest|offline)[.]ts$`],
    },
  ),
  rule(
    'portal-asks-the-api',
    'The portal shows what the API answers (docs/adr/0034): of a module it knows the contracts, and it opens no database.',
    { path: '^apps/portal/src/', pathNot: SPEC },
    {
      path: [`^libs/${MODULE}/`, `${PACKAGE}(pg|graphile-worker)/`, '^libs/platform/src/postgres/'],
      pathNot: CONTRACTS,
    },
  ),
  rule(
    'libs-never-import-apps',
    'Programs are put together from libraries, never the other way round.',
    { path: '^libs/' },
    { path: '^apps/' },
  ),
  rule(
    'code-never-imports-tests',
    'What ships holds no test code: not test/, no spec, not the libraries’ testing tools.',
    { path: '^(apps|libs)/', pathNot: [SPEC, ...TESTING] },
    { path: ['^test/', ...TESTING, SPEC] },
  ),
  rule(
    'measurements-start-by-themselves',
    'What measures is a program of its own: the packages of the test runner fail outside it, when they are imported.',
    { path: '^test/bench/', pathNot: SPEC },
    { path: `${PACKAGE}@jest/`, reachable: true },
  ),
  rule(
    'service-runs-without-tools',
    'What only authors and builders run imports the service, never the other way round.',
    { path: '^(apps|libs)/', pathNot: [SPEC, ...TESTING] },
    { path: '^tools/' },
  ),
  rule(
    'tools-see-what-composes',
    'The checks of the texts read what makes a document of a result, and nothing that stores, asks or answers.',
    { path: '^tools/content/' },
    {
      path: '^(apps|libs|test)/',
      pathNot: [
        '^libs/publishing/src/(contracts|content|document|figures|markdown|pdf)/',
        '^libs/numerology/src/',
        '^libs/platform/src/project-path[.]ts$',
      ],
    },
  ),
  rule(
    'code-ships-with-its-packages',
    'What ships imports packages of "dependencies" only: the image is installed without development packages.',
    { path: '^(apps|libs)/', pathNot: [SPEC, ...TESTING] },
    { dependencyTypes: DEV_PACKAGE, dependencyTypesNot: ['type-only'] },
  ),
];

const everywhere = [
  rule(
    'no-circular-import',
    'Two files that need each other are one idea in two places, and may meet each other half-loaded.',
    {},
    { circular: true },
  ),
  rule(
    'imports-resolve',
    'An import that resolves to no file would slip past every border.',
    {},
    { couldNotResolve: true },
  ),
];

export default {
  forbidden: [...arrows, ...modules, ...foundations, ...programs, ...everywhere],
  options: {
    skipAnalysisNotInRules: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // `source` is a condition of package.json's imports.
      conditionNames: ['source', 'import', 'types', 'node', 'default'],
    },
  },
};
