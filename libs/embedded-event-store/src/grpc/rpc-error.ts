import { Metadata, status } from '@grpc/grpc-js';

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

export const unknown = (details: string): RpcError => new RpcError(status.UNKNOWN, details);

export const unavailable = (details: string): RpcError => new RpcError(status.UNAVAILABLE, details);

/** Of a write during a stop: its outcome is unknown. */
export const stoppingWrites = (): RpcError => unavailable('The server is stopping.');

export const stopping = (): RpcError => new RpcError(status.CANCELLED, 'The server is stopping.');

/** Converts a thrown value to a status. Unexpected failures become INTERNAL and expose no details. */
export const toRpcError = (error: unknown): RpcError =>
  error instanceof RpcError ? error : new RpcError(status.INTERNAL, 'The server failed to process the call.');
