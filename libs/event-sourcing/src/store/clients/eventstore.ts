import { EventStoreDBClient } from '@eventstore/db-client';
import type { ClientInternals, OpenClient } from './client.js';

/** `@eventstore/db-client`. */
export const openClient: OpenClient = (connectionString) => {
  const client = EventStoreDBClient.connectionString(connectionString);
  return {
    dispose: () => client.dispose(),
    internals: client as unknown as ClientInternals,
  };
};
