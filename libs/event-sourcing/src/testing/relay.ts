import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Relay {
  readonly port: number;
  /** Connections accepted so far. */
  readonly taken: number;
  /** Blocks all data on the open connections, but still passes on their end. */
  freeze(): void;
  /** Decides for each later connection, numbered from 0, whether its data is blocked. */
  freezeNext(isFrozen: (index: number) => boolean): void;
  /** Keeps the data of the open connections, or of all, as a stopped process does. Their end waits behind it. */
  hold(which: 'open' | 'all'): void;
  /** Passes on what was kept, also what a client sent that has left since. */
  release(): void;
  /** Resets the open connections. */
  cut(): void;
  /** Decides whether later connections are reset at once. */
  refuse(isRefused: boolean): void;
  /** Ends what clients send, or what they receive, on the open connections. The other direction goes on. */
  halfClose(direction: Direction): void;
  /** Everything arrives this much later (ms), in order. */
  delay(milliseconds: number): void;
  stop(): Promise<void>;
}

type Direction = 'requests' | 'answers';

/** One direction of one connection. */
interface Way {
  readonly direction: Direction;
  readonly to: Socket;
  passes: 'all' | 'nothing' | 'later';
  kept: (() => void)[];
  /** Steps that are delayed, one after the other. */
  underWay: number;
  last: Promise<void>;
}

/** A relay to a server on loopback that fails as networks, firewalls and stopped processes do. */
export const startRelay = async (port: number): Promise<Relay> => {
  const ways = new Set<Way>();
  let [taken, lateMs, isRefused, holdsNew] = [0, 0, false, false];
  let isFrozen = (_: number): boolean => false;

  const arrive = (way: Way, step: () => void): void => {
    if (way.passes === 'later') way.kept.push(step);
    else step();
  };
  const pass = (way: Way, step: () => void): void => {
    if (lateMs === 0 && way.underWay === 0) return arrive(way, step);
    const due = performance.now() + lateMs;
    way.underWay += 1;
    way.last = way.last.then(async () => {
      await delay(Math.max(0, due - performance.now()));
      way.underWay -= 1;
      arrive(way, step);
    });
  };
  const join = (from: Socket, to: Socket, direction: Direction, passes: Way['passes']): void => {
    const way: Way = { direction, to, passes, kept: [], underWay: 0, last: Promise.resolve() };
    ways.add(way);
    from.setNoDelay(true);
    from.on('data', (bytes: Buffer) => {
      if (way.passes !== 'nothing') pass(way, () => void to.write(bytes));
    });
    from.on('end', () => pass(way, () => void to.end()));
    from.on('error', () => undefined);
    from.on('close', () =>
      pass(way, () => {
        ways.delete(way);
        to.destroySoon();
      }),
    );
  };

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const passes = isFrozen(taken) ? 'nothing' : holdsNew ? 'later' : 'all';
    taken += 1;
    if (isRefused) return void near.resetAndDestroy();
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    join(near, far, 'requests', passes);
    join(far, near, 'answers', passes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const release = (): void => {
    holdsNew = false;
    for (const way of ways) {
      if (way.passes === 'later') way.passes = 'all';
      for (const step of way.kept.splice(0)) step();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    get taken() {
      return taken;
    },
    freeze: () => {
      for (const way of ways) way.passes = 'nothing';
    },
    freezeNext: (frozen) => {
      isFrozen = frozen;
    },
    hold: (which) => {
      holdsNew = which === 'all';
      for (const way of ways) way.passes = 'later';
    },
    release,
    cut: () => {
      for (const { to } of ways) to.resetAndDestroy();
    },
    refuse: (refused) => {
      isRefused = refused;
    },
    halfClose: (direction) => {
      for (const way of ways) if (way.direction === direction) way.to.end();
    },
    delay: (milliseconds) => {
      lateMs = milliseconds;
    },
    stop: async () => {
      server.close();
      for (const { to } of ways) to.destroy();
      release();
      await once(server, 'close');
    },
  };
};
