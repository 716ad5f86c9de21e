import { EventStoreDBClient } from '@eventstore/db-client';
import { withDeadline } from '../timing/deadline.js';
import { hostOf, type StoreAddress } from './address.js';

let opened = 0;
const MOST_APART_MS = 1_000;

/** The client of one node, with a TCP connection of its own. It connects with its first call. */
export class StoreClient extends EventStoreDBClient {
  /**
   * @param node `host:port`
   * @param proxyFromEnvironment whether `http_proxy`, `https_proxy` and `grpc_proxy` of the environment apply
   */
  constructor(
    { usesTls, login, keepAlive, tls }: Pick<StoreAddress, 'usesTls' | 'login' | 'keepAlive' | 'tls'>,
    node: string,
    proxyFromEnvironment = false,
  ) {
    if (!proxyFromEnvironment) exemptFromProxy(hostOf(node));
    const { ca, key, cert, rejectUnauthorized } = usesTls ? tls() : {};
    // Clients with the same options and no TLS share one TCP connection, also one that is dead.
    const apartMs = keepAlive.intervalMs < 0 ? 0 : opened++ % MOST_APART_MS;
    super(
      {
        endpoint: node,
        keepAliveInterval: keepAlive.intervalMs + apartMs,
        keepAliveTimeout: keepAlive.timeoutMs,
      },
      {
        insecure: !usesTls,
        ...(ca && { rootCertificate: ca }),
        ...(key && { userKeyFile: key }),
        ...(cert && { userCertFile: cert }),
        ...(rejectUnauthorized === false && { verifyOptions: { rejectUnauthorized } }),
      },
      login,
    );
  }

  /** Ends every call and closes the TCP connection. */
  async close(): Promise<void> {
    await settledSoon(this.dispose());
    (await this.getChannel()).close();
  }
}

const LET_GO_WITHIN_MS = 1_000;

/** The client may wait forever for broken streams, so closing waits only for a moment. */
export const settledSoon = (work: Promise<unknown>): Promise<void> =>
  withDeadline(
    LET_GO_WITHIN_MS,
    () => work.then(ignore, ignore),
    () => undefined,
  );

const ignore = (): void => undefined;

/** The client takes proxies from the environment, and only the environment exempts hosts. */
const exemptFromProxy = (host: string): void => {
  const { grpc_proxy, https_proxy, http_proxy, no_grpc_proxy, no_proxy } = process.env;
  if (!(grpc_proxy || https_proxy || http_proxy)) return;
  const exempt = (no_grpc_proxy || no_proxy || '').split(',').filter(Boolean);
  if (!exempt.includes(host)) process.env['no_grpc_proxy'] = [...exempt, host].join(',');
};
