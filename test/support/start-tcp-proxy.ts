import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export interface StartedProxy {
  readonly port: number;
  /** From now on nothing passes, and connections stay open: like a pulled cable, not a closing server. */
  cut(): void;
  /** Ends the cut connections, and lets new ones through. */
  mend(): void;
  stop(): Promise<void>;
}

/** A proxy to a local server, at a Unix socket, which may change with each connection. The test can cut it. */
export const startTcpProxy = async (socket: string | (() => string)): Promise<StartedProxy> => {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const server = createServer((inner) => {
    const outer = connect(typeof socket === 'string' ? socket : socket());
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.on('data', (bytes) => void (isCut || to.write(bytes)));
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        if (!isCut) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      end();
      isCut = false;
    },
    stop: async () => {
      server.close();
      end();
      await once(server, 'close');
    },
  };
};
