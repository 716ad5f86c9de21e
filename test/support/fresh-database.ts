import { askCompanion } from './companion.js';
import { connectionsGone, type StartedPostgres } from './start-postgres.js';

/** A new database with every module's schema, on the companion's server. Specs of the server start their own. */
export const freshDatabase = async (): Promise<StartedPostgres> => {
  const urls = await askCompanion('/database', null);
  return {
    ...urls,
    stop: async () => {
      await connectionsGone(urls.databaseUrl);
      await askCompanion('/drop', { url: urls.databaseUrl });
    },
  };
};
