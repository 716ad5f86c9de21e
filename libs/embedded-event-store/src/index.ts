import { Admission } from './log/admission.js';
import { GroupCommit } from './log/group-commit.js';
import { lockFolder } from './log/folder-lock.js';
import { LogStore } from './log/log-store.js';
import { DEFAULT_LIMITS, type Limits, type ServerContext } from './grpc/context.js';
import { OpenCalls } from './grpc/open-calls.js';
import type { Login } from './grpc/authentication.js';
import { startGrpcServer, type TlsKeyPair } from './grpc/server.js';
import { groupFailure } from './grpc/rpc-error.js';
import { Groups } from './persistent/groups.js';
import { StreamWriter } from './streams/stream-writer.js';
import { CommitSignal } from './subscriptions/commit-signal.js';

export { UnusableDataError } from './log/environment.js';
export type { Limits } from './grpc/context.js';

export interface EmbeddedEventStoreOptions {
  /** Folder of the data; created if missing. */
  readonly dataDir: string;
  /** TCP port; 0 or undefined lets the system choose. */
  readonly port?: number;
  /** Address listened on; 127.0.0.1 by default. It is a development server: never a public one. */
  readonly host?: string;
  readonly limits?: Partial<Limits>;
  /** Serves TLS only, with this certificate and key (PEM). */
  readonly tls?: TlsKeyPair;
  /** Asks every caller for this login; use it with TLS, as it is sent in clear otherwise. */
  readonly login?: Login;
  /**
   * Links each event appended from now on in `$ce-<category>`, `$et-<type>` and `$streams`, as EventStoreDB's
   * system projections do. Off by default: it doubles or triples what is written.
   */
  readonly systemLinks?: boolean;
  /** For measurements only: acknowledges without syncing, so that a crash of the machine loses events. */
  readonly unsafeNoSync?: boolean;
  /** Milliseconds since 1970; the system's clock by default. */
  readonly now?: () => number;
  /** Operator's messages; standard error by default. */
  readonly report?: (message: string) => void;
  /** Called when an append could not be made durable; ends the process by default. */
  readonly onFatal?: (error: unknown) => void;
}

export interface EmbeddedEventStore {
  /** For `EventStoreDBClient.connectionString`. */
  readonly connectionString: string;
  readonly host: string;
  readonly port: number;
  /** Calls open now on all connections; a call whose caller does not read its answers stays open. */
  readonly openCalls: () => number;
  /** Ends open calls, makes accepted appends durable, and gives the folder back. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

const reportToStderr = (message: string): void => {
  process.stderr.write(`${message}\n`);
};

/**
 * Starts a single-node event store that speaks EventStoreDB's gRPC protocol, in this process.
 * @throws {UnusableDataError} when the folder is in use, of another format, or damaged.
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
  try {
    const opened = await LogStore.open(dataDir, { noSync: options.unsafeNoSync ?? false });
    store = opened;
    const signal = new CommitSignal();
    const onFailure =
      options.onFatal ??
      ((error: unknown): void => {
        report(`Appended events could not be made durable, the event store ends: ${String(error)}`);
        process.exit(1);
      });
    const onCommitted = ({ streams }: { streams: ReadonlySet<string> }): void => {
      signal.publish(streams);
    };
    const commits: GroupCommit = new GroupCommit(
      opened,
      { onCommitted, onFailure },
      () => writer.streamCount,
    );
    const writer: StreamWriter = new StreamWriter(opened, commits, {
      now,
      systemLinks: options.systemLinks ?? false,
    });
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const admission = new Admission(dataDir, limits, () => commits.pendingBytes, now);
    const calls = new OpenCalls();
    const groups = new Groups({
      store: opened,
      writer,
      signal,
      now,
      report,
      dropped: (source, group) => groupFailure('dropped', source, group),
    });
    const context: ServerContext = {
      store: opened,
      writer,
      admission,
      signal,
      groups,
      calls,
      limits,
      now,
      report,
    };
    const server = await startGrpcServer(context, { host, port, tls, login }, () => commits.settled());
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await server.stop();
      await groups.close();
      await commits.settled();
      await opened.close();
      unlock();
    };
    return {
      connectionString: `esdb://${host.includes(':') ? `[${host}]` : host}:${String(server.port)}?tls=${String(tls !== undefined)}`,
      host,
      port: server.port,
      openCalls: server.openCalls,
      stop: () => (stopped ??= stop()),
    };
  } catch (error) {
    await store?.close();
    unlock();
    throw error;
  }
};
