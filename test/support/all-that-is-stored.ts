import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from './start-stack.js';

/** The text of every row of each table of a stack, jobs included. */
export const everyTable = async function* (stack: Stack): AsyncGenerator<readonly [string, string]> {
  const tables = await stack.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const rows = await stack.query<{ row: string }>(`select t::text as row from ${name} t`);
    yield [name, rows.map(({ row }) => row).join('\n')];
  }
};

/** Every file of its data folder: event store, database files, logs. */
export const everyFile = function* ({ dataDir }: Stack): Generator<readonly [string, Buffer]> {
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      yield [path, readFileSync(path)];
    } catch (error) {
      // PostgreSQL renews some of its files while it runs.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
};
