import { Metadata, status } from '@grpc/grpc-js';
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import sharedPb, { type StreamIdentifier, type UUID } from '@eventstore/db-client/generated/shared_pb.js';
import { MAX_NAME_BYTES, type ProposedEvent } from '../log/record.js';
import type { ExpectedRevision, StreamWriter, WriteOutcome } from '../streams/stream-writer.js';
import type { Admission, AdmissionLimits } from '../log/group-commit.js';
import type { LogStore } from '../log/log-store.js';

/** A failure on the wire: a gRPC status, and trailers from which clients build their own errors. */
export class RpcError extends Error {
  readonly metadata = new Metadata();

  constructor(
    readonly code: status,
    readonly details: string,
    trailers: Readonly<Record<string, string>> = {},
  ) {
    super(details);
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, value);
  }
}

export const invalidArgument = (details: string): RpcError => new RpcError(status.INVALID_ARGUMENT, details);

/** Of a write during a stop: its outcome is unknown. */
export const stoppingWrites = (): RpcError => new RpcError(status.UNAVAILABLE, 'The server is stopping.');

export const stopping = (): RpcError => new RpcError(status.CANCELLED, 'The server is stopping.');

/** Converts a thrown value to a status. Unexpected failures become INTERNAL and expose no details. */
export const toRpcError = (error: unknown): RpcError =>
  error instanceof RpcError ? error : new RpcError(status.INTERNAL, 'The server failed to process the call.');

export const streamIdentifier = (name: string): StreamIdentifier => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(name));
  return identifier;
};

/** A stream name. @throws {RpcError} INVALID_ARGUMENT when it is missing, too long or reserved */
export const streamName = (identifier: StreamIdentifier | undefined): string => {
  const bytes = identifier?.getStreamName_asU8();
  if (!bytes || bytes.length === 0) throw invalidArgument('The stream name is missing.');
  if (bytes.length > MAX_NAME_BYTES) {
    throw invalidArgument(`The stream name is longer than ${String(MAX_NAME_BYTES)} bytes.`);
  }
  const name = Buffer.from(bytes).toString('utf8');
  if (name === '$$' || name.startsWith('$$$$'))
    throw invalidArgument(`The stream name ${name} is not valid.`);
  return name;
};

/** The name of a stream that accepts appends. */
export const writableStreamName = (identifier: StreamIdentifier | undefined): string => {
  const name = streamName(identifier);
  if (name === '$all') throw invalidArgument('Events cannot be appended to $all.');
  return name;
};

const TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical text of an event id or a correlation id. @throws {RpcError} UNKNOWN, as EventStoreDB does */
export const uuidText = (uuid: UUID | undefined): string => {
  const text = uuid?.getString() ?? '';
  if (!TEXT.test(text))
    throw new RpcError(status.UNKNOWN, 'An event id is missing or is not the text of a UUID.');
  return text.toLowerCase();
};

/** @throws {RpcError} INVALID_ARGUMENT */
export const proposedEvent = (message: BatchAppendReq.ProposedMessage): ProposedEvent => {
  const properties = message.getMetadataMap();
  const type = properties.get('type');
  const contentType = properties.get('content-type');
  if (type === undefined || contentType === undefined)
    throw invalidArgument('The type or the content type of an event is missing.');
  if (Buffer.byteLength(type) > MAX_NAME_BYTES) {
    throw invalidArgument(`An event type is longer than ${String(MAX_NAME_BYTES)} bytes.`);
  }
  return {
    id: uuidText(message.getId()),
    type,
    contentType: contentType === 'application/json' ? contentType : 'application/octet-stream',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

/** Bytes that an event counts towards the append size limit, as EventStoreDB counts them: two for each character of its type. */
export const appendBytes = ({ type, data, metadata }: ProposedEvent): number =>
  data.length + metadata.length + 2 * type.length;

export const expectedRevision = (options: BatchAppendReq.Options): ExpectedRevision => {
  if (options.hasStreamPosition()) return BigInt(options.getStreamPosition());
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) throw invalidArgument('The embedded event store has no stream_exists.');
  return 'any';
};

/** Limits of one server. */
export interface Limits extends AdmissionLimits {
  /** Largest append, bytes of data and metadata (EventStoreDB's default: 1 MiB). */
  readonly maxAppendBytes: number;
  /** Milliseconds after which an unfinished write is reported as timed out (EventStoreDB's default: 2 s). */
  readonly commitTimeoutMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  maxAppendBytes: MIB,
  commitTimeoutMs: 2_000,
  maxPendingBytes: 64 * MIB,
  reservedDiskBytes: 64 * MIB,
};

/** Dependencies of the services. */
export interface ServerContext {
  readonly store: LogStore;
  readonly writer: StreamWriter;
  readonly admission: Admission;
  /** Calls back once, after the next commit. @returns a function that withdraws that */
  readonly onCommit: (wake: () => void) => () => void;
  readonly calls: OpenCalls;
  readonly limits: Limits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Logs details for the operator that callers do not receive. */
  readonly report: (message: string) => void;
}

/** The long-lived calls (reads, subscriptions, append streams), so that a stop can end them. */
export class OpenCalls {
  private readonly enders = new Set<() => void>();
  private closing = false;

  get stopping(): boolean {
    return this.closing;
  }

  /** A call whose caller does not read what it gets stays open. */
  get count(): number {
    return this.enders.size;
  }

  /** Registers how to end a call. The caller runs the returned function when the call ends by itself. */
  add(end: () => void): () => void {
    this.enders.add(end);
    return () => {
      this.enders.delete(end);
    };
  }

  /** Stops accepting new calls; `endAll` ends the open ones. */
  close(): void {
    this.closing = true;
  }

  endAll(): void {
    for (const end of [...this.enders]) end();
    this.enders.clear();
  }
}

/** The write was not durable in time. It is already numbered: it becomes durable later, or the server exits. */
export interface TimedOut {
  readonly kind: 'timed-out';
}

/**
 * Stops waiting when a write takes too long to become durable. The write itself continues, so its outcome is
 * unknown. The caller can learn it by appending the same events again.
 */
export const withinCommitTimeout = async (
  write: Promise<WriteOutcome>,
  commitTimeoutMs: number,
): Promise<WriteOutcome | TimedOut> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<TimedOut>((resolve) => {
    timer = setTimeout(resolve, commitTimeoutMs, { kind: 'timed-out' });
  });
  try {
    return await Promise.race([write, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
