/** A connection string for tests: the client's own deadline is 10 s, which a pause of a slow machine can reach. */
export const patient = (connectionString: string): string =>
  `${connectionString}${connectionString.includes('?') ? '&' : '?'}defaultDeadline=120000`;
