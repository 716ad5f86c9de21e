import { KurrentDBClient } from '@kurrent/kurrentdb-client';
import type { ClientInternals, OpenClient } from './client.js';

/** `@kurrent/kurrentdb-client`. It warns of the scheme `esdb`, which means the same to it. */
export const openClient: OpenClient = (connectionString) => {
  const client = KurrentDBClient.connectionString(connectionString.replace(/^esdb/, 'kurrentdb'));
  return {
    dispose: () => client.dispose(),
    internals: client as unknown as ClientInternals,
  };
};
