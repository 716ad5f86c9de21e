import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { once } from 'node:events';
import type { LogStore } from './log-store.js';

/** First answer to a connection: the state is kept until the connection closes. */
const HELD = 'held\n';

/** Each one takes a slot in LMDB's table of readers, which has 126. */
const MOST_CONNECTIONS = 32;

/**
 * Keeps states for other processes that read the file of a running server. Each connection to the socket in the data
 * folder keeps the state at its beginning, and all later ones, until it closes.
 * @returns what ends all of that
 */
export const serveSnapshots = async (folder: string, store: LogStore): Promise<() => Promise<void>> => {
  const held = new Map<Socket, () => void>();
  const release = (socket: Socket): void => {
    held.get(socket)?.();
    held.delete(socket);
  };
  const server = createServer((socket) => {
    held.set(socket, store.pin());
    socket
      .on('error', () => undefined)
      .once('close', () => release(socket))
      .resume();
    socket.write(HELD);
  });
  server.maxConnections = MOST_CONNECTIONS;
  const { path, forget } = socketOf(folder);
  try {
    // A killed server leaves its socket behind. This process holds the lock of the folder.
    rmSync(path, { force: true });
    server.listen(path);
    await once(server, 'listening');
    chmodSync(path, 0o600);
  } finally {
    forget();
  }
  return async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of held.keys()) {
      release(socket);
      socket.destroy();
    }
    await closed;
    rmSync(join(folder, 'server.socket'), { force: true });
  };
};

/** Longest path of a socket, bytes: 107 on Linux, 103 on macOS. */
const LONGEST_PATH = 103;

/** A path of the server's socket that the system accepts. */
interface SocketPath {
  readonly path: string;
  /** Removes the temporary link of a long path. */
  readonly forget: () => void;
}

/** The socket in a data folder, through which other processes ask its server to keep a state. */
export const socketOf = (folder: string): SocketPath => {
  const path = join(resolve(folder), 'server.socket');
  if (Buffer.byteLength(path) <= LONGEST_PATH) return { path, forget: () => undefined };
  const short = mkdtempSync(join(tmpdir(), 'event-store-'));
  symlinkSync(resolve(folder), join(short, 'data'));
  return {
    path: join(short, 'data', 'server.socket'),
    forget: () => rmSync(short, { recursive: true, force: true }),
  };
};
