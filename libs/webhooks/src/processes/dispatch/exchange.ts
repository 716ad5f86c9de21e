import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { AttemptError } from '../../domain/delivery/attempt-result.js';

/** Bytes read and kept of a response body. */
const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;

export interface Response {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
  /** The first bytes. */
  readonly body: Uint8Array;
}

/**
 * One HTTP request and its response. Reads a bounded part of the body as it arrives, without a stream, and holds only
 * what is kept. Closes the connection of a longer response.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<Response>;
  private resolve!: (response: Response) => void;
  private reject!: (reason: unknown) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private cancelledBy: Error | null = null;
  private statusCode = 0;
  private retryAfter: string | undefined;
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;
  private readBytes = 0;

  constructor() {
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get isCancelled(): boolean {
    return this.cancelledBy !== null;
  }

  /** Ends the exchange with this reason, with or without a connection. */
  cancel(reason: Error): void {
    this.cancelledBy = reason;
    this.reject(reason);
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.cancelledBy) controller.abort(this.cancelledBy);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interim response says nothing about the outcome (RFC 9110, 15.2).
    if (statusCode < 200) return;
    this.statusCode = statusCode;
    const { 'retry-after': retryAfter } = headers;
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const wanted = chunk.subarray(0, KEPT_BYTES - this.keptBytes);
    // A copy: the chunk is part of a larger buffer.
    if (wanted.length > 0) this.kept.push(Buffer.from(wanted));
    this.keptBytes += wanted.length;
    this.readBytes += chunk.length;
    if (this.readBytes < READ_BYTES) return;
    this.finish();
    controller.abort(new Error('the response is long enough'));
  }

  onResponseEnd(): void {
    this.finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }

  private finish(): void {
    const { statusCode, retryAfter, kept } = this;
    this.resolve({ statusCode, retryAfter, body: Buffer.concat(kept) });
  }
}

/** Bytes of one response with everything around its body: interim responses, headers, chunk framing. */
const RESPONSE_BYTES = 262_144;

/**
 * Closes a connection, as an invalid response, when the response to one request exceeds `RESPONSE_BYTES`. HTTP has parts
 * of unlimited length that a client skips silently: interim responses, chunk extensions, empty lines, the reason phrase.
 * Without this limit they could keep a worker busy until the deadline. Expects one request at a time (no pipelining).
 */
export const limitResponses = (socket: Socket): void => {
  let writtenBytes = 0;
  let readBytes = 0;
  socket.on('readable', () => {
    if (socket.bytesWritten !== writtenBytes) {
      // The next request: its response is counted from here.
      writtenBytes = socket.bytesWritten;
      ({ bytesRead: readBytes } = socket);
    }
    if (socket.bytesRead - readBytes > RESPONSE_BYTES) socket.destroy(new AttemptFailed('invalid_response'));
  });
};

/** An attempt that we failed ourselves, with its class of error. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
  constructor(readonly reason: AttemptError) {
    super(reason);
  }
}

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);
const LOST_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
/** OpenSSL's verification errors have no common prefix. */
const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(VERIFY|GET_ISSUER|DECRYPT)|HOSTNAME_MISMATCH|EPROTO$|CRL_|INVALID_(CA|PURPOSE))/;

/** The class of an error of the network or the receiver, by its code. */
export const classify = (error: unknown): AttemptError => {
  if (error instanceof AttemptFailed) return error.reason;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return 'invalid_response';
  if (TLS_CODES.test(code)) return 'tls_error';
  if (CONNECT_CODES.has(code)) return 'connect_failed';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (LOST_CODES.has(code)) return 'connection_lost';
  return 'invalid_response';
};
