import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Whose bytes do not pass: `up`, those of the client; `down`, those of the server. */
export type Direction = 'up' | 'down';

/**
 * What becomes of the bytes that do not pass, and of their connections, when the link is mended:
 * - `late`: they arrive then, even if their sender has given up meanwhile, as after lost packets
 * - `lost`: they are gone, and the connections end, as after a restart of a firewall
 * - `dead`: they are gone, and the connections stay silent until one side closes, as after a firewall forgot them
 */
export const LOSSES = ['late', 'lost', 'dead'] as const;
export type Loss = (typeof LOSSES)[number];

export interface Link {
  readonly port: number;
  /** From now on, no bytes pass in these directions; those in the other one do. New connections share that fate. */
  cut(directions: readonly Direction[], loss: Loss): void;
  /** Everything passes again. */
  mend(): void;
  stop(): Promise<void>;
}

/** A local server: the path of a Unix socket, or a port. */
export type Target = string | number;

interface Cut {
  readonly directions: readonly Direction[];
  readonly loss: Loss;
}

/** The way from one socket of a connection to the other. */
class Flow {
  private held: Buffer[] = [];
  private hasEnded = false;
  private isSilent = false;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly direction: Direction,
    private readonly cut: () => Cut | null,
  ) {
    from.on('data', (bytes) => {
      if (!this.isCut()) to.write(bytes);
      else if (this.cut()?.loss === 'late' && !this.isSilent) this.held.push(bytes);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      this.hasEnded = true;
      if (!this.isCut() || this.isSilent) to.destroySoon();
    });
  }

  mend(loss: Loss): void {
    if (loss === 'late') for (const bytes of this.held.splice(0)) this.to.write(bytes);
    if (loss === 'dead') this.isSilent ||= this.isIn(this.cut());
    if (loss === 'lost') this.from.destroy();
    if (this.hasEnded || loss === 'lost') this.to.destroySoon();
  }

  private isCut(): boolean {
    return this.isSilent || this.isIn(this.cut());
  }

  private isIn(cut: Cut | null): boolean {
    return cut?.directions.includes(this.direction) ?? false;
  }
}

/** A proxy on loopback for one arrow of the architecture, from one process to one server. */
export const startLink = async (target: Target): Promise<Link> => {
  const flows = new Set<Flow>();
  const sockets = new Set<Socket>();
  let present: Cut | null = null;
  const server = createServer((client) => {
    const upstream = typeof target === 'string' ? connect(target) : connect(target, '127.0.0.1');
    const both = [
      new Flow(client, upstream, 'up', () => present),
      new Flow(upstream, client, 'down', () => present),
    ];
    for (const flow of both) flows.add(flow);
    let open = 2;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        open -= 1;
        if (open === 0) for (const flow of both) flows.delete(flow);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: (directions, loss) => {
      present = { directions, loss };
    },
    mend: () => {
      const past = present;
      if (past) for (const flow of flows) flow.mend(past.loss);
      present = null;
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};
