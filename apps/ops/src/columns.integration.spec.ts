import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import pg from 'pg';
import { projectPath } from '#platform/project-path.js';
import { freshDatabase } from '../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../test/support/start-postgres.js';
import { OPERATIONAL_TABLES } from '../../service/src/modules.js';
import { READ_MODELS } from '../../service/src/tables.js';
import { COLUMNS } from './columns.js';
import { columnsOf, findMisshapenTables } from './commands/lost-tables.js';

const HEAD = `/**
 * The columns that the migrations make, as \`<column> <type>\`. After a migration:
 * \`COLUMNS_UPDATE=1 npm run test:all -- apps/ops/src/columns\` writes this file.
 */
export const COLUMNS: Readonly<Record<string, string>> = {
`;

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 1 });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

it('The columns that doctor looks for are those of the migrations', async () => {
  const tables = [...new Set([...READ_MODELS, ...Object.keys(OPERATIONAL_TABLES)])].toSorted();
  const made = await columnsOf(pool, tables);
  const columns = Object.fromEntries(
    tables.map((table) => [table, (made.get(table) ?? []).toSorted().join(', ')]),
  );
  if (process.env['COLUMNS_UPDATE']) {
    const lines = Object.entries(columns).map(([table, all]) => `  '${table}': '${all}',\n`);
    const path = projectPath('apps', 'ops', 'src', 'columns.ts');
    writeFileSync(path, `${HEAD}${lines.join('')}};\n`);
    execFileSync(projectPath('node_modules', '.bin', 'oxfmt'), [path]);
  } else expect(COLUMNS).toEqual(columns);
});

it('A column that is missing or of another type is found, and one of a newer program is not', async () => {
  expect(await findMisshapenTables(pool)).toEqual([]);
  await pool.query(`alter table billing.balance drop column due_at;
    alter table billing.balance add column newer text;
    alter table platform.rate_bucket rename column tokens to coins`);
  expect(await findMisshapenTables(pool)).toEqual([
    { table: 'billing.balance', lacks: ['due_at timestamp with time zone'] },
    { table: 'platform.rate_bucket', lacks: [expect.stringMatching(/^tokens /)] },
  ]);
});
