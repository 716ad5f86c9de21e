import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export interface StartedProxy {
  readonly port: number;
  /** From now on nothing passes, and connections stay open: like a pulled cable, not a closing server. */
  cut(): void;
  /** Lets new connections through. The cut ones stay open, and nothing passes on them. */
  passNew(): void;
  /** Ends the cut connections, and lets new ones through. */
  mend(): void;
  stop(): Promise<void>;
}

/** A proxy to a local server, at a Unix socket, which may change with each connection. The test can cut it. */
export const startTcpProxy = async (socket: string | (() => string)): Promise<StartedProxy> => {
  const pairs = new Set<readonly [Socket, Socket]>();
  /** Connections are numbered from 1: these are cut. */
  let [taken, cutUpTo] = [0, 0];
  // Each side ends by itself: behind a cut, nobody hears that the other one has.
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    const number = (taken += 1);
    const isCut = (): boolean => number <= cutUpTo;
    const path = typeof socket === 'string' ? socket : socket();
    const outer = connect({ path, allowHalfOpen: true });
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.on('data', (bytes) => void (isCut() || to.write(bytes)));
      from.on('end', () => void (isCut() || to.end()));
      from.on('error', () => undefined);
      from.on('close', () => {
        // A cut connection stays open at the other side.
        if (isCut()) return;
        pairs.delete(pair);
        to.destroy();
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
      cutUpTo = Infinity;
    },
    passNew: () => {
      cutUpTo = taken;
    },
    mend: () => {
      end();
      cutUpTo = taken;
    },
    stop: async () => {
      server.close();
      end();
      await once(server, 'close');
    },
  };
};
