import { readFileSync } from 'node:fs';

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

/** What a connection string of the event store says. */
export interface StoreAddress {
  /** `host:port` of each node it names. */
  readonly nodes: readonly string[];
  /** Whether the leader has to be found: it names several nodes, or one that knows the others. */
  readonly isCluster: boolean;
  readonly usesTls: boolean;
  readonly login: { readonly username: string; readonly password: string } | undefined;
  /** What the address says of TLS. @throws Error when a file that it names cannot be read */
  tls(): TlsTrust;
  /** Of keep-alive pings, in milliseconds; -1: none. */
  readonly keepAlive: { readonly intervalMs: number; readonly timeoutMs: number };
}

/** The client's own defaults (ms). */
const KEEP_ALIVE_MS = 10_000;

/**
 * `esdb://user:password@one:2113,two:2113?tlsCAFile=/ca.crt`. Names of options have any case.
 * Source: https://developers.eventstore.com/clients/grpc/getting-started#connection-string
 */
export const readAddress = (connectionString: string): StoreAddress => {
  const [, scheme = '', login, authority = '', query = ''] =
    /^([^:]+):\/\/(?:([^/?]*)@)?([^/?]*)\/?\??(.*)$/.exec(connectionString.trim()) ?? [];
  const nodes = authority
    .split(',')
    .filter(Boolean)
    .map((node) => (/:\d+$/.test(node) ? node : `${node}:${DEFAULT_PORT}`));
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const file = (name: string): Buffer | undefined => {
    const path = options.get(name);
    return path === undefined ? undefined : readFileSync(path);
  };
  const milliseconds = (name: string): number => Number(options.get(name) ?? KEEP_ALIVE_MS);
  return {
    nodes,
    isCluster: nodes.length > 1 || scheme.endsWith('+discover'),
    usesTls: options.get('tls')?.toLowerCase() !== 'false',
    login: login === undefined ? undefined : loginOf(login),
    tls: () => ({
      ca: file('tlscafile'),
      key: file('userkeyfile'),
      cert: file('usercertfile'),
      rejectUnauthorized: options.get('tlsverifycert')?.toLowerCase() !== 'false',
    }),
    keepAlive: { intervalMs: milliseconds('keepaliveinterval'), timeoutMs: milliseconds('keepalivetimeout') },
  };
};

const loginOf = (login: string): NonNullable<StoreAddress['login']> => {
  const [username = '', ...password] = login.split(':');
  return { username: decodeURIComponent(username), password: decodeURIComponent(password.join(':')) };
};

/** `[::1]:2113` names `::1`. */
export const hostOf = (node: string): string => node.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
