import http from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { constants } from 'node:crypto';
import https from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { LocalBuckets } from '#platform/rate-limit/rate-limiter.js';
import type { AttemptError } from '../../domain/attempt.js';
import {
  type AddressRange,
  isAddress,
  isReachable,
  isSameAddress,
  portOf,
  unbracketed,
} from '../../domain/webhook-url.js';

/** Bytes read and kept of a response body. */
const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;
/** Bytes of one response with everything around its body: clients skip interim responses or chunk extensions of any length. */
const RESPONSE_BYTES = 262_144;
/** Pieces in which a response may come, chunks and interim responses too: each costs as much as a thousand bytes. */
const RESPONSE_PIECES = 4_096;

export interface Response {
  readonly statusCode: number;
  readonly retryAfter: readonly string[];
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
    request.once('socket', (socket) => {
      socket.on('data', count);
      request.once('close', () => socket.off('data', count));
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

/** An HTTP proxy for all requests to receivers. */
export interface EgressProxy {
  readonly hostname: string;
  readonly port: number;
  /** The value of Proxy-Authorization; `null`: the proxy needs none. */
  readonly authorization: string | null;
  /** Told each time why the proxy cannot be used. The reason never holds the login. */
  readonly report: (reason: string) => void;
}

/** @param url http://host:port, with a login if needed */
export const egressProxy = (url: string, report: EgressProxy['report'] = () => undefined): EgressProxy => {
  const { hostname, port, username, password } = new URL(url);
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const authorization = username === '' ? null : `Basic ${login.toString('base64')}`;
  return { hostname: unbracketed(hostname), port: Number(port || 80), authorization, report };
};

interface ConnectionLimits {
  /** For TCP, and as long again for TLS. */
  readonly connectTimeoutMs: number;
  readonly allowCidrs: readonly AddressRange[];
  /** `null`: receivers are connected to directly. */
  readonly proxy: EgressProxy | null;
}

/** Whose receiver it is: connections are of one endpoint, the time that they take is of its workspace. */
export interface ReceiverOwner {
  readonly workspaceId: string;
  readonly endpointId: string;
}

const KEPT_RECEIVERS = 1_000;
/** How long an idle connection is kept; the receiver may ask for less. */
const KEEP_ALIVE_MS = 10_000;
const RESPONSE_HEADER_BYTES = 16_384;

/** Milliseconds of the worker's only thread: a fifth of each minute; at once, as many as some fifty usual connections take. */
const THREAD = { perMinute: 12_000, burst: 100 };

interface Share {
  /** How long what arrives has to wait. */
  waitMs(): number;
  took(ms: number): void;
}

/**
 * The time of the thread that the TLS of one workspace takes. Its receivers decide how long that is: up to 90 ms for a chain
 * of certificates that fits, and more for tickets to resume.
 */
export class ThreadShare {
  private readonly taken: LocalBuckets;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.taken = new LocalBuckets(THREAD, KEPT_RECEIVERS, now);
  }

  of(workspaceId: string): Share {
    return {
      waitMs: () => Math.max(0, -this.taken.owe(workspaceId, 0)) * (60_000 / THREAD.perMinute),
      took: (ms) => void this.taken.owe(workspaceId, ms),
    };
  }
}

/** Keep-alive connections, each to one checked address, whatever DNS says later. Proxy variables of the environment have no effect. */
export class PinnedConnections {
  private readonly agents = new LRUCache<string, http.Agent>({ max: KEPT_RECEIVERS });
  private readonly thread = new ThreadShare();

  constructor(private readonly limits: ConnectionLimits) {}

  /** @param headers names and values in turns, without Host */
  post(owner: ReceiverOwner, url: URL, address: string, headers: readonly string[]): http.ClientRequest {
    const { workspaceId, endpointId } = owner;
    const key = `${endpointId} ${url.origin} ${address}`;
    const agent = this.agents.get(key) ?? this.open(url, address, workspaceId);
    this.agents.set(key, agent);
    const { request } = url.protocol === 'https:' ? https : http;
    return request(url, {
      method: 'POST',
      headers: ['host', url.host, ...headers],
      agent,
      maxHeaderSize: RESPONSE_HEADER_BYTES,
    });
  }

  private open(url: URL, address: string, workspaceId: string): http.Agent {
    const { connectTimeoutMs, proxy } = this.limits;
    const isTls = url.protocol === 'https:';
    const agent = new (isTls ? https : http).Agent({
      keepAlive: true,
      timeout: KEEP_ALIVE_MS,
      // An agent's own options precede those of its requests.
      host: address,
      servername: isAddress(url.hostname) ? '' : url.hostname,
      // Set here, so that no environment variable can disable it.
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      // With DHE the receiver chooses the numbers, and a prime of 10,000 bits takes a second of the worker's only thread. Of
      // the groups of TLS 1.3, those that are no curves take a tenth.
      ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
      ecdhCurve: 'X25519:P-256:P-384:P-521',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
    const connect = agent.createConnection.bind(agent);
    const secure = (options: object, socket: Socket): Socket => {
      const begin = (stream: Duplex) => connect({ ...options, socket: stream } as object) as TLSSocket;
      return endUnless(
        connectTimeoutMs,
        meteredTls(socket, this.thread.of(workspaceId), begin),
        'secureConnect',
      );
    };
    agent.createConnection = (options, callback) => {
      const port = portOf(url);
      const reached = proxy ? openTunnel(proxy, address, port, connectTimeoutMs) : this.reach(address, port);
      reached.then(
        (socket) => callback?.(null, isTls ? secure(options, socket) : socket.setNoDelay(true)),
        (error: unknown) => callback?.(error as Error, null as never),
      );
      return undefined;
    };
    return agent;
  }

  /** A connection to the address, and nowhere else. */
  private reach(address: string, port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connectTcp({ host: address, port, noDelay: true });
      endUnless(this.limits.connectTimeoutMs, socket, 'connect');
      socket.once('error', reject).once('connect', () => {
        if (this.leadsTo(address, socket)) resolve(socket);
        else socket.destroy(new AttemptFailed('blocked_address'));
      });
    });
  }

  private leadsTo(address: string, { remoteAddress = '' }: Socket): boolean {
    return isSameAddress(remoteAddress, address) && isReachable(remoteAddress, this.limits.allowCidrs);
  }
}

/** Ends a connection on which this event has not come in time. */
const endUnless = <S extends Socket>(ms: number, socket: S, event: string): S => {
  const timer = setTimeout(() => socket.destroy(new AttemptFailed('timeout')), ms);
  for (const end of [event, 'close']) socket.once(end, () => clearTimeout(timer));
  return socket;
};

/** A fault of the way out, and never of the receiver. */
const proxyFailed = (proxy: EgressProxy, reason: string): AttemptFailed => {
  proxy.report(reason);
  return new AttemptFailed('proxy_failed');
};

/** Asks the proxy to connect to the checked address (CONNECT, RFC 9110, 9.3.6), never to a name, so it resolves nothing. */
const openTunnel = (proxy: EgressProxy, address: string, port: number, timeoutMs: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, authorization } = proxy;
    const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    const connect = http.request({
      hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      agent: false,
      headers: {
        host: authority,
        ...(authorization === null ? {} : { 'proxy-authorization': authorization }),
      },
    });
    // Once the proxy has taken the connection, the receiver may be the reason.
    let isConnected = false;
    connect.once('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    const failed = (error: AttemptError, reason: string): AttemptFailed =>
      isConnected ? new AttemptFailed(error) : proxyFailed(proxy, reason);
    const timer = setTimeout(() => connect.destroy(failed('timeout', 'ETIMEDOUT')), timeoutMs);
    connect.once('connect', ({ statusCode }, socket) => {
      clearTimeout(timer);
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(
        statusCode === 407 ? proxyFailed(proxy, 'it refuses the login') : new AttemptFailed('connect_failed'),
      );
    });
    connect.once('response', (response) => {
      clearTimeout(timer);
      response.destroy();
      reject(new AttemptFailed('connect_failed'));
    });
    connect.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error instanceof AttemptFailed ? error : failed('connect_failed', error.code ?? 'unknown'));
    });
    connect.end();
  });

/** Bytes that a connection may receive beside twice its content: certificates, tickets, and a record that is not complete. */
const TLS_BYTES = 49_152;
/**
 * Bytes until a connection is made: those of four certificates with RSA of 4,096 bits and a hundred names. TLS verifies
 * every certificate that it is sent, trusted or not, in one piece: up to 5 ms for 420 bytes.
 */
const HANDSHAKE_BYTES = 12_288;
/** The type of records that make a connection, and in TLS 1.2 also ask to make it again (RFC 5246, 7.4.1.1). */
const HANDSHAKE = 22;

/** Bytes that are looked at before TLS takes the next: it works through all that it is given in one piece. */
const SLICE_BYTES = 4_096;
/** The header of a TLS record: its type, a version and its length (RFC 8446, 5.1). */
const HEADER_BYTES = 5;

/**
 * Begins TLS on a connection. It ends when too many records have no content, or ask to negotiate again: they cost time, up
 * to 90 µs for 33 bytes, and appear nowhere above TLS. It takes no more of the thread than the share of its workspace.
 * @param begin TLS on this stream
 */
const meteredTls = (socket: Socket, share: Share, begin: (stream: Duplex) => TLSSocket): TLSSocket => {
  let bytes = 0;
  let isMade = false;
  const stream = new MeteredSocket(socket, share, (more, records) => {
    bytes += more;
    const isAgain = isMade && tls.getProtocol() === 'TLSv1.2' && records.includes(HANDSHAKE);
    const most = isMade ? TLS_BYTES + 2 * tls.bytesRead : HANDSHAKE_BYTES;
    const isAdmitted = !isAgain && bytes <= most;
    if (!isAdmitted) tls.destroy(new AttemptFailed('invalid_response'));
    return isAdmitted;
  });
  const tls = begin(stream);
  return tls.once('secureConnect', () => (isMade = true));
};

/** A connection that shows what arrives before it goes on. */
class MeteredSocket extends Duplex {
  private header = Buffer.alloc(0);
  /** Bytes of the present record that have not arrived. */
  private left = 0;
  private isWaiting = false;

  /**
   * @param share of what TLS makes of what arrives
   * @param admits bytes, and the types of the records that begin in them; without it, they go no further
   */
  constructor(
    private readonly socket: Socket,
    private readonly share: Share,
    private readonly admits: (bytes: number, records: readonly number[]) => boolean,
  ) {
    super();
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
    // TLS closes what it is given, and cannot tell it that nobody waits for it.
    socket.unref();
  }

  private receive(chunk: Buffer): void {
    let wantsMore = true;
    for (let from = 0; from < chunk.length && !this.destroyed; from += SLICE_BYTES) {
      const waitMs = this.share.waitMs();
      this.isWaiting = waitMs > 0;
      if (this.isWaiting) {
        this.socket.pause();
        setTimeout(() => this.receive(chunk.subarray(from)), waitMs).unref();
        return;
      }
      const slice = chunk.subarray(from, from + SLICE_BYTES);
      if (!this.admits(slice.length, this.recordsIn(slice))) return;
      const before = process.cpuUsage();
      wantsMore = this.push(slice);
      const { user, system } = process.cpuUsage(before);
      this.share.took((user + system) / 1_000);
    }
    if (wantsMore) this.socket.resume();
    else this.socket.pause();
  }

  private recordsIn(slice: Buffer): readonly number[] {
    const types: number[] = [];
    for (let at = 0; at < slice.length;) {
      const skipped = Math.min(this.left, slice.length - at);
      this.left -= skipped;
      at += skipped;
      const missing = slice.subarray(at, at + HEADER_BYTES - this.header.length);
      this.header = Buffer.concat([this.header, missing]);
      at += missing.length;
      if (this.header.length < HEADER_BYTES) continue;
      types.push(this.header[0]!);
      this.left = this.header.readUInt16BE(HEADER_BYTES - 2);
      this.header = Buffer.alloc(0);
    }
    return types;
  }

  override _read(): void {
    if (!this.isWaiting) this.socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}
