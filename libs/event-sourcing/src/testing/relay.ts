import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Relay {
  readonly port: number;
  /** Connections accepted so far. */
  readonly taken: number;
  /** Blocks all data on the open connections, but still passes on their end. */
  freeze(): void;
  /** Decides for each later connection, numbered from 0, whether its data is blocked. */
  freezeNext(isFrozen: (index: number) => boolean): void;
  stop(): Promise<void>;
}

/** A relay to a server on loopback that can silence connections without closing them, as a firewall may do. */
export const startRelay = async (port: number): Promise<Relay> => {
  const sockets = new Set<Socket>();
  let [taken, isFrozen] = [0, (_: number): boolean => false];
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const frozen = isFrozen(taken);
    taken += 1;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (frozen) from.resume();
      else from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get taken() {
      return taken;
    },
    freeze: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    freezeNext: (frozen) => {
      isFrozen = frozen;
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};
