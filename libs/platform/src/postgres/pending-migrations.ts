import { existsSync, readdirSync } from 'node:fs';
import pg from 'pg';
import { projectPath } from '../project-path.js';
import { migratedLibraries, schemaOf, type Migrated } from './schemas.js';

/** The folder of a library's migrations. */
export const migrationsOf = (owner: string): string => projectPath('libs', owner, 'migrations');

/** Migrations of this program that are not applied to the database, as `<library>/<name>`. */
export const pendingMigrations = async (
  databaseUrl: string,
  modules: Migrated,
): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const pending: string[] = [];
    for (const owner of migratedLibraries(modules)) {
      const names = existsSync(migrationsOf(owner))
        ? readdirSync(migrationsOf(owner)).map((file) => file.replace(/[.]sql$/, ''))
        : [];
      const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
        `migrations.${schemaOf(owner)}`,
      ]);
      const applied = rows[0]?.there
        ? (await client.query<{ name: string }>(`select name from migrations.${schemaOf(owner)}`)).rows
        : [];
      const known = new Set(applied.map(({ name }) => name));
      pending.push(...names.filter((name) => !known.has(name)).map((name) => `${owner}/${name}`));
    }
    return pending;
  } finally {
    await client.end();
  }
};
