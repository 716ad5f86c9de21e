import { request } from 'node:http';
import type { Socket } from 'node:net';
import { AttemptFailed } from './attempt-errors.js';

/** An HTTP proxy for everything that is sent to receivers. */
export interface EgressProxy {
  readonly hostname: string;
  readonly port: number;
  /** The value of Proxy-Authorization, when the proxy asks for it. */
  readonly authorization: string | null;
}

/** @param url http://host:port, with a user and a password where the proxy asks for them */
export const egressProxy = (url: string): EgressProxy => {
  const { hostname, port, username, password } = new URL(url);
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || 80),
    authorization: username === '' ? null : `Basic ${Buffer.from(login).toString('base64')}`,
  };
};

/**
 * Has the proxy connect to an address (CONNECT, RFC 9110, 9.3.6). It is told the address that was checked and never a
 * name, so that it cannot be led elsewhere by resolving again.
 */
export const openTunnel = (
  proxy: EgressProxy,
  address: string,
  port: number,
  timeoutMs: number,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    const asked = request({
      hostname: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      agent: false,
      headers: {
        host: authority,
        ...(proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }),
      },
    });
    const timer = setTimeout(() => asked.destroy(new AttemptFailed('timeout')), timeoutMs);
    asked.once('connect', ({ statusCode }, socket) => {
      clearTimeout(timer);
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new AttemptFailed('connect_failed'));
    });
    asked.once('response', (response) => {
      clearTimeout(timer);
      response.destroy();
      reject(new AttemptFailed('connect_failed'));
    });
    asked.once('error', (error) => {
      clearTimeout(timer);
      // Whatever is wrong with the proxy says nothing about the receiver.
      reject(error instanceof AttemptFailed ? error : new AttemptFailed('connect_failed'));
    });
    asked.end();
  });
