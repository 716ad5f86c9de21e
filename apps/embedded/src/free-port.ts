import { createServer } from 'node:net';
import { hasCode } from './stack-error.js';

/** A TCP port that is free now. Another program may take it before it is used: callers try again. */
export const freePort = (host = '127.0.0.1'): Promise<number> => listenOnce(0, host);

/** @returns false when another program listens on this port. */
export const isFree = async (port: number, host: string): Promise<boolean> => {
  try {
    await listenOnce(port, host);
    return true;
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return false;
    throw error;
  }
};

const listenOnce = (port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
