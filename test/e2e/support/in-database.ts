import pg from 'pg';
import type { Stack } from '../../support/index.js';

/** Runs one statement as the superuser, as somebody would who damages the database by hand. */
export const inDatabase = async (
  { databaseUrl }: Pick<Stack, 'databaseUrl'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly pg.QueryResultRow[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<pg.QueryResultRow>(text, values as unknown[])).rows;
  } finally {
    await client.end();
  }
};
