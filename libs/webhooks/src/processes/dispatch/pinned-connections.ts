import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { Pool, buildConnector } from 'undici';
import type { AttemptError } from '../../domain/delivery/attempt-result.js';
import { isReachable, isSameAddress } from '../../domain/url/addresses.js';
import { AttemptFailed, limitResponses } from './exchange.js';

/** An HTTP proxy for all requests to receivers. */
export interface EgressProxy {
  readonly hostname: string;
  readonly port: number;
  /** The value of Proxy-Authorization, for each connection; `null`: the proxy needs none. @throws Error when it cannot be read */
  readonly authorization: () => string | null;
  /** Told each time why the proxy cannot be used. The reason never holds the login. */
  readonly report: (reason: string) => void;
}

/**
 * @param url http://host:port, with user and password if the proxy needs them
 * @param loginFile a file with user:password instead. It is read for each connection, so a change needs no restart
 */
export const egressProxy = (
  url: string,
  loginFile?: string,
  report: EgressProxy['report'] = () => undefined,
): EgressProxy => {
  const { hostname, port, username, password } = new URL(url);
  const login = username === '' ? null : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || 80),
    authorization: () =>
      loginFile === undefined ? login && basic(login) : basic(readFileSync(loginFile, 'utf8').trim()),
    report,
  };
};

export interface ConnectionLimits {
  readonly connectTimeoutMs: number;
  readonly exchangeTimeoutMs: number;
  /** Connections to one receiver at a time. */
  readonly perReceiver: number;
  readonly allowCidrs: readonly string[];
  /** `null`: receivers are connected to directly. */
  readonly proxy: EgressProxy | null;
  /** Addresses of this machine to connect from, one of each family at most; none, or absent: the system chooses. */
  readonly sources?: readonly string[];
}

const KEPT_RECEIVERS = 1_000;
const KEEP_ALIVE_MS = 10_000;
const LONGEST_KEEP_ALIVE_MS = 60_000;
const RESPONSE_HEADER_BYTES = 16_384;

/**
 * Keep-alive connections, each to one checked address. The host name is used for SNI, certificate and Host only, so DNS
 * cannot redirect a connection (rebinding). Proxy variables of the environment have no effect.
 */
export class PinnedConnections {
  /** Least recently used first. */
  private readonly pools = new Map<string, Pool>();

  constructor(private readonly limits: ConnectionLimits) {}

  /** @param owner owners share no connections, even to one address */
  to(owner: string, url: URL, address: string): Pool {
    const key = `${owner} ${url.origin} ${address}`;
    const known = this.pools.get(key);
    if (known) this.pools.delete(key);
    const pool = known ?? this.open(url, address);
    this.pools.set(key, pool);
    if (this.pools.size > KEPT_RECEIVERS) this.closeOldest();
    return pool;
  }

  /** The address to connect to, of those of one receiver: the first of a family that has a source. */
  choose(addresses: readonly string[]): string {
    return addresses.find((address) => this.sourceFor(address) !== undefined) ?? addresses[0]!;
  }

  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.allSettled(pools.map((pool) => pool.destroy()));
  }

  private closeOldest(): void {
    const [oldest] = this.pools;
    if (!oldest) return;
    this.pools.delete(oldest[0]);
    void oldest[1].close().catch(() => undefined);
  }

  private open(url: URL, address: string): Pool {
    const { exchangeTimeoutMs, perReceiver } = this.limits;
    return new Pool(url.origin, {
      connections: perReceiver,
      pipelining: 1,
      connect: limited(this.connector(address)),
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: LONGEST_KEEP_ALIVE_MS,
      maxHeaderSize: RESPONSE_HEADER_BYTES,
      headersTimeout: exchangeTimeoutMs,
      bodyTimeout: exchangeTimeoutMs,
    });
  }

  /** Connects to the address and checks where the socket leads; or connects through the proxy. */
  private connector(address: string): buildConnector.connector {
    const { connectTimeoutMs: timeout, proxy } = this.limits;
    const source = this.sourceFor(address);
    // Without an own address of its family the system would choose one, which no receiver expects.
    if (source === undefined) return (_, callback) => callback(new AttemptFailed('connect_failed'), null);
    // `rejectUnauthorized` is set here, so that no environment variable can disable it.
    const dial = buildConnector({
      timeout,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
    });
    if (proxy) return (options, callback) => void this.tunnel(proxy, address, options, dial, callback);
    return (options, callback) => {
      dial({ ...options, hostname: address, localAddress: source }, (error, socket) => {
        if (error) return callback(error, null);
        if (this.leadsTo(address, socket)) return callback(null, socket);
        socket.destroy();
        // It leads to another address than the checked one.
        callback(new AttemptFailed('blocked_address'), null);
      });
    };
  }

  private async tunnel(
    proxy: EgressProxy,
    address: string,
    options: buildConnector.Options,
    dial: buildConnector.connector,
    callback: buildConnector.Callback,
  ): Promise<void> {
    const isTls = options.protocol === 'https:';
    const port = Number(options.port || (isTls ? 443 : 80));
    try {
      const socket = await openTunnel(proxy, address, port, this.limits.connectTimeoutMs);
      if (isTls) dial({ ...options, httpSocket: socket }, callback);
      else callback(null, socket.setNoDelay(true));
    } catch (error) {
      callback(error as Error, null);
    }
  }

  /** The address of this machine to connect from; `null`: the system chooses; `undefined`: none of this family. */
  private sourceFor(address: string): string | null | undefined {
    const { sources = [] } = this.limits;
    return sources.length === 0 ? null : sources.find((one) => one.includes(':') === address.includes(':'));
  }

  private leadsTo(address: string, { remoteAddress = '' }: Socket): boolean {
    return isSameAddress(remoteAddress, address) && isReachable(remoteAddress, this.limits.allowCidrs);
  }
}

/** Adds the limit on response size to a connector. */
const limited =
  (connector: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connector(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      limitResponses(socket);
      callback(null, socket);
    });

const loginAt = (proxy: EgressProxy): string | null => {
  try {
    return proxy.authorization();
  } catch {
    throw proxyFailed(proxy, 'its login cannot be read');
  }
};

/** A fault of the way out, and never of the receiver. */
const proxyFailed = (proxy: EgressProxy, reason: string): AttemptFailed => {
  proxy.report(reason);
  return new AttemptFailed('proxy_failed');
};

/**
 * Asks the proxy to connect to an address (CONNECT, RFC 9110, 9.3.6). The request names the checked address and never a
 * host name, so the proxy resolves nothing.
 */
const openTunnel = (
  proxy: EgressProxy,
  address: string,
  port: number,
  timeoutMs: number,
): Promise<Socket> => {
  const authorization = loginAt(proxy);
  return new Promise((resolve, reject) => {
    const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    const connect = request({
      hostname: proxy.hostname,
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
};
