/**
 * The parts of the test suite. A spec belongs to the first whose pattern its path matches, so that its name says what
 * it needs: a unit spec needs nothing but the sources, the others a build, PostgreSQL, sockets or processes.
 */
const SUITES = {
  e2e: /\/test\/(e2e|security)\//,
  crash: /\/test\/crash\//,
  integration: /[.]integration[.]spec[.]ts$|\/test\/contract\//,
  unit: /[.]spec[.]ts$/,
};

/** @returns the suite of a spec: `unit`, `integration`, `e2e` or `crash` */
export const suiteOf = (path) => Object.keys(SUITES).find((name) => SUITES[name].test(path));

/** For Jest's `testRegex`: the specs of one suite, or of all. @throws Error for an unknown suite */
export const specsOf = (suite) => {
  if (suite === undefined) return SUITES.unit.source;
  if (!(suite in SUITES)) throw new Error(`TEST_SUITE is ${suite}: use ${Object.keys(SUITES).join(', ')}.`);
  if (suite !== 'unit') return `(?=.*(?:${SUITES[suite].source}))^.*[.]spec[.]ts$`;
  const others = Object.keys(SUITES).filter((name) => name !== 'unit');
  return `^(?!.*(?:${others.map((name) => SUITES[name].source).join('|')})).*[.]spec[.]ts$`;
};

/** Specs that cannot run on another event store (TEST_EVENT_STORE_COMMAND), and why. */
export const ONLY_EMBEDDED = {
  'test/crash/backup-disk': 'its backups copy the files of the embedded store',
  'test/crash/frozen-worker-months': 'it shifts the clock of the embedded store',
  'test/e2e/restore-drill': 'it backs up, damages and restores the files of the embedded store',
  'test/e2e/restore-servers': 'its commands copy the files of the embedded store',
  'test/security/forged-event': 'it attacks the login and the TLS of the embedded store',
};

/** For Jest's `testPathIgnorePatterns`. Says what it leaves out. */
export const leftOut = (eventStoreCommand, say) => {
  if (!eventStoreCommand) return [];
  for (const [path, reason] of Object.entries(ONLY_EMBEDDED))
    say(`Left out on this event store: ${path}: ${reason}`);
  return Object.keys(ONLY_EMBEDDED).map((path) => `/${path}[.]spec[.]ts$`);
};
