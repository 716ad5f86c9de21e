import { readAddress } from '../address.js';
import { StoreClient } from '../store-client.js';

const asAdministrator = async (
  connectionString: string,
  work: (client: StoreClient) => Promise<unknown>,
): Promise<void> => {
  const address = readAddress(connectionString);
  const client = new StoreClient(address, address.nodes[0]!);
  try {
    await work(client);
  } finally {
    await client.close();
  }
};

/** What the port cannot do, and somebody with the server's own tools can. */
export const softDelete = (connectionString: string, stream: string): Promise<void> =>
  asAdministrator(connectionString, (client) => client.deleteStream(stream));
export const tombstone = (connectionString: string, stream: string): Promise<void> =>
  asAdministrator(connectionString, (client) => client.tombstoneStream(stream));
