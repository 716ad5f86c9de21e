import { EventEmitter } from 'node:events';
import { Admission, GroupCommit } from './log/group-commit.js';
import { lockFolder } from './log/folder-lock.js';
import { LogStore } from './log/log-store.js';
import { serveSnapshots } from './log/look-at.js';
import { DEFAULT_LIMITS, OpenCalls, type Limits, type ServerContext } from './grpc/context.js';
import { startGrpcServer, type Login, type TlsKeyPair } from './grpc/server.js';
import { StreamWriter } from './streams/stream-writer.js';

export { UnusableDataError } from './log/environment.js';
export type { Limits } from './grpc/context.js';

export interface EmbeddedEventStoreOptions {
  /** Data folder; created if missing. */
  readonly dataDir: string;
  /** TCP port; 0 or undefined lets the system choose one. */
  readonly port?: number;
  /** Listen address, 127.0.0.1 by default. This is a development server: never use a public address. */
  readonly host?: string;
  readonly limits?: Partial<Limits>;
  /** Accepts TLS only, with this certificate and key (PEM). */
  readonly tls?: TlsKeyPair;
  /** Requires this login from every caller. Use it with TLS, because it is sent in clear text otherwise. */
  readonly login?: Login;
  /**
   * For tests: stands for the nodes that follow a leader. A write is committed once this resolves. Until then, as in a
   * cluster, reads do not show it, and appends at the revision before it are refused at once.
   */
  readonly quorum?: () => Promise<void>;
  /** For measurements only: acknowledges without syncing, so a machine crash loses events. */
  readonly unsafeNoSync?: boolean;
  /** Current time, milliseconds since 1970; the system clock by default. */
  readonly now?: () => number;
  /** Receives messages for the operator; writes to standard error by default. */
  readonly report?: (message: string) => void;
}

export interface EmbeddedEventStore {
  /** For `EventStoreDBClient.connectionString`. */
  readonly connectionString: string;
  readonly host: string;
  readonly port: number;
  /** Open calls on all connections. A call whose caller does not read the responses stays open. */
  readonly openCalls: () => number;
  /** Ends open calls, makes accepted appends durable, and unlocks the folder. Idempotent. */
  readonly stop: () => Promise<void>;
}

const reportToStderr = (message: string): void => {
  process.stderr.write(`${message}\n`);
};

/**
 * Starts a single-node event store in this process. It speaks EventStoreDB's gRPC protocol.
 * @throws {UnusableDataError} when the folder is in use, has another format, or is damaged
 */
export const startEmbeddedEventStore = async (
  options: EmbeddedEventStoreOptions,
): Promise<EmbeddedEventStore> => {
  const {
    dataDir,
    port = 0,
    host = '127.0.0.1',
    now = Date.now,
    report = reportToStderr,
    tls,
    login,
  } = options;
  const unlock = lockFolder(dataDir);
  let store: LogStore | undefined;
  let endSnapshots: (() => Promise<void>) | undefined;
  try {
    const opened = await LogStore.open(dataDir, { noSync: options.unsafeNoSync ?? false });
    store = opened;
    const committed = new EventEmitter().setMaxListeners(0);
    const onFailure = (error: unknown): void => {
      report(`Appended events could not be made durable; the event store exits: ${String(error)}`);
      process.exit(1);
    };
    const commits: GroupCommit = new GroupCommit(
      opened,
      { onCommitted: () => committed.emit('commit'), onFailure, quorum: options.quorum },
      () => writer.streamCount,
    );
    const writer: StreamWriter = new StreamWriter(opened, commits, {
      now,
      refusesAtOnce: options.quorum !== undefined,
    });
    if (!opened.lastRecord()) await writer.writeFirstEvents();
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const admission = new Admission(dataDir, limits, () => commits.pendingBytes, now);
    const calls = new OpenCalls();
    const context: ServerContext = {
      store: opened,
      writer,
      admission,
      onCommit: (wake) => {
        committed.once('commit', wake);
        return () => committed.off('commit', wake);
      },
      calls,
      limits,
      now,
      report,
    };
    endSnapshots = await serveSnapshots(dataDir, opened);
    const server = await startGrpcServer(context, { host, port, tls, login }, () => commits.settled());
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await server.stop();
      await commits.settled();
      await endSnapshots?.();
      await opened.close();
      unlock();
    };
    return {
      connectionString: `esdb://${host.includes(':') ? `[${host}]` : host}:${String(server.port)}?tls=${String(tls !== undefined)}`,
      host,
      port: server.port,
      openCalls: () => calls.count,
      stop: () => (stopped ??= stop()),
    };
  } catch (error) {
    await endSnapshots?.();
    await store?.close();
    unlock();
    throw error;
  }
};
