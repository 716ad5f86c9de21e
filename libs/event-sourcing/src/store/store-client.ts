import { EventStoreDBClient } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { withDeadline } from '../timing/deadline.js';
import { hostOf, type StoreAddress } from './address.js';

export type AppendCall = ReturnType<StreamsClient['batchAppend']>;

let opened = 0;
const MAX_APART_MS = 1_000;

/** The client of one node, with a TCP connection of its own, never through a proxy. It connects with its first call. */
export class StoreClient extends EventStoreDBClient {
  private readonly appendCalls = new WeakMap<StreamsClient, AppendCall | Promise<AppendCall>>();

  /** @param node `host:port` */
  constructor(
    { usesTls, login, keepAlive, tls }: Pick<StoreAddress, 'usesTls' | 'login' | 'keepAlive' | 'tls'>,
    node: string,
  ) {
    exemptFromProxy(hostOf(node));
    const { ca, key, cert, rejectUnauthorized } = usesTls ? tls() : {};
    // Clients with the same options and no TLS share one TCP connection, also one that is dead.
    const apartMs = keepAlive.intervalMs < 0 ? 0 : opened++ % MAX_APART_MS;
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

  /** The call of appends that stands, or a new one. @param listen hears the new one from its beginning */
  appendCall(listen: (call: AppendCall) => AppendCall): Promise<AppendCall> {
    const given = this.callArguments({ requiresLeader: true }, { deadline: Infinity });
    const create = (client: StreamsClient) => listen(client.batchAppend(...given));
    return this.GRPCStreamCreator(streamsGrpc.StreamsClient, 'append', create, this.appendCalls)();
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
