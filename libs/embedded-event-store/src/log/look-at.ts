import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { rootPages, UnusableDataError } from './environment.js';
import { holderOf } from './folder-lock.js';
import { dataFileOf, LogStore } from './log-store.js';
import { socketOf } from './serve-snapshots.js';

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
