import pg from 'pg';
import type { Stack } from '../../support/index.js';

/** Runs one statement as the superuser, as somebody would who damages the database by hand. */
export const inDatabase = async (
  { databaseUrl }: Pick<Stack, 'databaseUrl'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(text, values as unknown[]);
  } finally {
    await client.end();
  }
};
