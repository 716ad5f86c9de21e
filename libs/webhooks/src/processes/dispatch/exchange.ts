import type { ClientRequest, IncomingMessage } from 'node:http';
import type { AttemptError } from '../../domain/delivery/attempt-result.js';

/** Bytes read and kept of a response body. */
const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;
/**
 * Bytes of one response with everything around its body. HTTP has parts of unlimited length that a client skips silently:
 * interim responses, chunk extensions, empty lines, the reason phrase. They could keep a worker busy until the deadline.
 */
const RESPONSE_BYTES = 262_144;
/** Pieces in which a response may come, chunks and interim responses too: each costs as much as a thousand bytes. */
const RESPONSE_PIECES = 4_096;
/** Session tickets of TLS 1.3 in one exchange. Servers send two; they are outside the bytes of the response. */
const SESSION_TICKETS = 16;

export interface Response {
  readonly statusCode: number;
  /** Each as it was sent. */
  readonly retryAfter: readonly string[];
  /** The first bytes. */
  readonly body: Uint8Array;
}

/** One HTTP request and its final response: interim ones say nothing about the outcome (RFC 9110, 15.2). */
export class Exchange {
  readonly response: Promise<Response>;
  isCancelled = false;
  private resolve!: (response: Response) => void;
  private reject!: (reason: unknown) => void;
  private request: ClientRequest | null = null;

  constructor() {
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Ends the exchange with this reason, with or without a connection. */
  cancel(reason: Error): void {
    // What has been read already comes in thousands of pieces more.
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.reject(reason);
    this.request?.destroy(reason);
  }

  /**
   * Sends a request. Reads bounded parts of the response as it arrives, and closes the connection of a longer one. If the
   * receiver was closing a kept connection meanwhile, another request follows: receivers know a repeat by its event id.
   */
  begin(open: () => ClientRequest, body: Uint8Array): void {
    const request = open();
    this.request = request;
    let [bytes, pieces] = [0, 0];
    const countPiece = (): void => {
      pieces += 1;
      if (pieces > RESPONSE_PIECES) this.cancel(new AttemptFailed('invalid_response'));
    };
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > RESPONSE_BYTES) this.cancel(new AttemptFailed('invalid_response'));
      countPiece();
    };
    let tickets = 0;
    const countTicket = (): void => {
      tickets += 1;
      if (tickets > SESSION_TICKETS) this.cancel(new AttemptFailed('invalid_response'));
    };
    request.once('socket', (socket) => {
      socket.on('data', count).on('session', countTicket);
      request.once('close', () => socket.off('data', count).off('session', countTicket));
    });
    request.on('information', countPiece);
    request.once('response', (response) => {
      response.on('data', countPiece);
      this.read(response);
    });
    // A response 101 to a request that asked for no other protocol.
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      this.finish(response, []);
    });
    request.on('error', (error) => {
      if (request.reusedSocket && bytes === 0 && !this.isCancelled) this.begin(open, body);
      else this.reject(error);
    });
    request.end(body);
  }

  private read(response: IncomingMessage): void {
    const kept: Buffer[] = [];
    let readBytes = 0;
    response.on('data', (chunk: Buffer) => {
      // A copy: the chunk is part of a larger buffer.
      if (readBytes < KEPT_BYTES) kept.push(Buffer.from(chunk.subarray(0, KEPT_BYTES - readBytes)));
      readBytes += chunk.length;
      if (readBytes < READ_BYTES) return;
      this.finish(response, kept);
      this.request?.destroy();
    });
    response.once('end', () => this.finish(response, kept));
    response.on('error', this.reject);
  }

  private finish({ statusCode, headersDistinct }: IncomingMessage, kept: readonly Buffer[]): void {
    const { 'retry-after': retryAfter = [] } = headersDistinct;
    this.resolve({ statusCode: statusCode!, retryAfter, body: Buffer.concat(kept) });
  }
}

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
const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
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
  if (code === 'ETIMEDOUT') return 'timeout';
  if (LOST_CODES.has(code)) return 'connection_lost';
  return 'invalid_response';
};
