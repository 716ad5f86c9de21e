import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The first of two neighbouring free ports: the worker's metrics use the port after the API's. The system hands out higher
 * ones, so no connection of another process takes them before the stack listens.
 */
export const twoFreePorts = async (): Promise<number> => {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const servers = [port, port + 1].map((one) => createServer().listen(one, '127.0.0.1'));
    const areFree = await Promise.all(
      servers.map((server) =>
        once(server, 'listening').then(
          () => true,
          () => false,
        ),
      ),
    );
    for (const server of servers) server.close();
    if (areFree.every(Boolean)) return port;
  }
};
