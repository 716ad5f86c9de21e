import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export interface StartedProxy {
  readonly port: number;
  /** From now on nothing passes and nobody is told: a cable that was pulled out, not a server that says goodbye. */
  cut(): void;
  /** Ends what was cut, and lets new connections through. */
  mend(): void;
  stop(): Promise<void>;
}

/** A way to a server of this machine, at a socket in the file system, that can be cut. */
export const startTcpProxy = async (socket: string): Promise<StartedProxy> => {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const server = createServer((inner) => {
    const outer = connect(socket);
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
