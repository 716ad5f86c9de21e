import { lookup } from 'node:dns/promises';

/** Every address of a host name; rejects when there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

export const RESOLVE_HOST = Symbol('ResolveHost');

/** As the operating system resolves, hosts file included. */
export const resolveHost: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);
