import type { Socket } from 'node:net';
import { Pool, buildConnector } from 'undici';
import { isReachable, isSameAddress } from '../../domain/url/addresses.js';
import { limitAnswers } from './answer-limit.js';
import { AttemptFailed } from './attempt-errors.js';
import { openTunnel, type EgressProxy } from './tunnel.js';

export interface ConnectionLimits {
  readonly connectTimeoutMs: number;
  readonly exchangeTimeoutMs: number;
  /** Connections to one receiver at a time. */
  readonly perReceiver: number;
  readonly allowCidrs: readonly string[];
  /** Through which everything goes; `null`: straight to receivers. */
  readonly proxy: EgressProxy | null;
}

const KEPT_RECEIVERS = 1_000;
const KEEP_ALIVE_MS = 10_000;
const LONGEST_KEEP_ALIVE_MS = 60_000;
const ANSWER_HEADER_BYTES = 16_384;

/**
 * Kept-alive connections, each to one address that was checked. The name is only used for SNI, certificate and Host, so
 * that a second look-up cannot lead elsewhere. Proxy variables have no effect here.
 */
export class PinnedConnections {
  /** Least recently used first. */
  private readonly pools = new Map<string, Pool>();

  constructor(private readonly limits: ConnectionLimits) {}

  /** @param owner connections are not shared between owners, even to one address */
  to(owner: string, url: URL, address: string): Pool {
    const key = `${owner} ${url.origin} ${address}`;
    const known = this.pools.get(key);
    if (known) this.pools.delete(key);
    const pool = known ?? this.open(url, address);
    this.pools.set(key, pool);
    if (this.pools.size > KEPT_RECEIVERS) this.closeOldest();
    return pool;
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
      maxHeaderSize: ANSWER_HEADER_BYTES,
      headersTimeout: exchangeTimeoutMs,
      bodyTimeout: exchangeTimeoutMs,
    });
  }

  /** Dials the address itself, then asks the socket where it went; or has the proxy dial it. */
  private connector(address: string): buildConnector.connector {
    const { connectTimeoutMs: timeout, proxy } = this.limits;
    // Said here, no variable of the environment can turn it off.
    const dial = buildConnector({ timeout, rejectUnauthorized: true, minVersion: 'TLSv1.2' });
    if (proxy) return (options, callback) => void this.tunnel(proxy, address, options, dial, callback);
    return (options, callback) => {
      dial({ ...options, hostname: address }, (error, socket) => {
        if (error) return callback(error, null);
        if (this.leadsTo(address, socket)) return callback(null, socket);
        socket.destroy();
        // It led to another address than the one checked.
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

  private leadsTo(address: string, { remoteAddress = '' }: Socket): boolean {
    return isSameAddress(remoteAddress, address) && isReachable(remoteAddress, this.limits.allowCidrs);
  }
}

/** The connector, its connections with a limit to what is read of an answer. */
const limited =
  (connector: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connector(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      limitAnswers(socket);
      callback(null, socket);
    });
