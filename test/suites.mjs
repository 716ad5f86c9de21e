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
