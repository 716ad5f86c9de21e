import { readFileSync } from 'node:fs';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';

const DEFAULT_PORT = 2113;

/** Files in PEM. */
interface TlsTrust {
  /** Authority that is trusted instead of the system's. */
  readonly ca: Buffer | undefined;
  /** Of a user. */
  readonly key: Buffer | undefined;
  readonly cert: Buffer | undefined;
  /** Whether the server must prove who it is. */
  readonly rejectUnauthorized: boolean;
}

/** What a connection string of the event store says. Both clients parse it alike. */
export interface StoreAddress {
  /** `host:port` of each node it names. */
  readonly nodes: readonly string[];
  /** Whether the leader has to be found: it names several nodes, or one that knows the others. */
  readonly isCluster: boolean;
  readonly usesTls: boolean;
  /** What the address says of TLS. @throws Error when a file that it names cannot be read */
  tls(): TlsTrust;
  /** Of calls without a login. @throws Error when a file that the address names cannot be read */
  credentials(): ChannelCredentials;
}

/** `esdb://user:password@one:2113,two:2113?tlsCAFile=/ca.crt`. Names of options have any case. */
export const readAddress = (connectionString: string): StoreAddress => {
  const [, scheme = '', authority = '', query = ''] =
    /^([^:]+):\/\/(?:[^/?]*@)?([^/?]*)\/?\??(.*)$/.exec(connectionString.trim()) ?? [];
  const nodes = authority
    .split(',')
    .filter(Boolean)
    .map((node) => (/:\d+$/.test(node) ? node : `${node}:${DEFAULT_PORT}`));
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const usesTls = options.get('tls')?.toLowerCase() !== 'false';
  const file = (name: string): Buffer | undefined => {
    const path = options.get(name);
    return path === undefined ? undefined : readFileSync(path);
  };
  const tls = (): TlsTrust => ({
    ca: file('tlscafile'),
    key: file('userkeyfile'),
    cert: file('usercertfile'),
    rejectUnauthorized: options.get('tlsverifycert')?.toLowerCase() !== 'false',
  });
  return {
    nodes,
    isCluster: nodes.length > 1 || scheme.endsWith('+discover'),
    usesTls,
    tls,
    credentials: () => {
      if (!usesTls) return credentials.createInsecure();
      const { ca = null, key = null, cert = null, rejectUnauthorized } = tls();
      return credentials.createSsl(ca, key, cert, { rejectUnauthorized });
    },
  };
};

/** `[::1]:2113` names `::1`. */
export const hostOf = (node: string): string => node.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
