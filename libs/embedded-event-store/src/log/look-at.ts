import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { once } from 'node:events';
import { dataFileOf, LogStore } from './log-store.js';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { rootPages, UnusableDataError } from './environment.js';
import { holderOf } from './folder-lock.js';

/** First answer to a connection: the state is kept until the connection closes. */
const HELD = 'held\n';

/** Each one takes a slot in LMDB's table of readers, which has 126. */
const MAX_CONNECTIONS = 32;

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
  server.maxConnections = MAX_CONNECTIONS;
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
const MAX_PATH = 103;

/** A path of the server's socket that the system accepts. */
interface SocketPath {
  readonly path: string;
  /** Removes the temporary link of a long path. */
  readonly forget: () => void;
}

/** The socket in a data folder, through which other processes ask its server to keep a state. */
export const socketOf = (folder: string): SocketPath => {
  const path = join(resolve(folder), 'server.socket');
  if (Buffer.byteLength(path) <= MAX_PATH) return { path, forget: () => undefined };
  const short = mkdtempSync(join(tmpdir(), 'event-store-'));
  symlinkSync(resolve(folder), join(short, 'data'));
  return {
    path: join(short, 'data', 'server.socket'),
    forget: () => rmSync(short, { recursive: true, force: true }),
  };
};

const ANSWER_WITHIN_MS = 3_000;
const POLL_MS = 50;
const ATTEMPTS = 3;

/** Why what a process reads from the file cannot be overwritten. */
interface Hold {
  /** Whether it has lasted until now. */
  readonly lasted: () => Promise<boolean>;
  readonly release: () => void;
}

/**
 * Reads the store in a folder, also while a server writes to it: what `work` sees is durable and consistent. A running
 * server keeps the state until `work` ends. When a server starts or ends meanwhile, `work` runs again.
 * @throws {UnusableDataError} when there is no store, it has another format, or its server does not answer
 */
export const lookAt = async <T>(folder: string, work: (store: LogStore) => T | Promise<T>): Promise<T> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const hold = await holdState(folder);
    try {
      const seen = await look(folder, work);
      if (await hold.lasted()) return seen;
    } catch (error) {
      if (await hold.lasted()) throw error;
    } finally {
      hold.release();
    }
  }
  throw new UnusableDataError(
    `An event store started, ended or wrote in ${folder} during each of ${String(ATTEMPTS)} attempts to read it: try again.`,
  );
};

const look = async <T>(folder: string, work: (store: LogStore) => T | Promise<T>): Promise<T> => {
  const store = await LogStore.inspect(folder);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

const holdState = async (folder: string): Promise<Hold> => {
  for (const deadline = Date.now() + ANSWER_WITHIN_MS; ; await delay(POLL_MS)) {
    const socket = await connect(folder, Math.max(POLL_MS, deadline - Date.now()));
    if (socket) return heldBy(socket);
    const holder = holderOf(folder);
    if (!holder) return unserved(dataFileOf(folder));
    if (Date.now() >= deadline)
      throw new UnusableDataError(
        `The process ${String(holder.pid)} holds ${folder} and does not answer: it is starting, ending, scavenging, or of an older version. Try again, or restart it.`,
      );
  }
};

/** A server releases the state when the connection closes, or with its own end. */
const heldBy = (socket: Socket): Hold => ({
  lasted: async () => {
    // Long work may have kept the news of the end waiting: a whole turn of the event loop brings it.
    await turn();
    await turn();
    return !socket.closed && !socket.readableEnded;
  },
  release: () => socket.destroy(),
});

/** Without a server, nothing changes as long as nobody commits. */
const unserved = (dataFile: string): Hold => {
  const before = rootPages(dataFile);
  return { lasted: () => Promise.resolve(before.equals(rootPages(dataFile))), release: () => undefined };
};

/** @returns undefined when nobody answers */
const connect = async (folder: string, withinMs: number): Promise<Socket | undefined> => {
  const { path, forget } = socketOf(folder);
  const socket = createConnection(path);
  try {
    const ended = once(socket, 'close').then(() => false);
    const held = once(socket, 'data', { signal: AbortSignal.timeout(withinMs) }).then(() => true);
    if (await Promise.race([held, ended])) return socket;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM')
      throw new UnusableDataError(
        `The socket ${path} belongs to another user: run the command as its owner.`,
      );
    if (code !== 'ENOENT' && code !== 'ECONNREFUSED' && code !== 'ECONNRESET' && name !== 'AbortError')
      throw error;
  } finally {
    forget();
  }
  socket.on('error', () => undefined).destroy();
  return undefined;
};
