import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

/** Every address of a host name; rejects when there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

export const RESOLVE_HOST = Symbol('ResolveHost');

/** Longest whole look-up of a name; what has come by then is taken. */
const LOOK_UP_MS = 5_000;
/** After which a question is asked again: the first may have been lost. */
const TRY_MS = 2_000;
const TRIES = 2;

export interface NameServers {
  /** `address:port`; by default those of the machine. */
  readonly servers?: readonly string[];
  readonly lookUpMs?: number;
}

/**
 * Asks name servers without the threads of the process. The system's own resolving takes one of four for as long as a
 * customer's name server likes, and with them everybody else's look-ups and the files of this process. So names are
 * whole and known to DNS: neither the hosts file nor search domains count.
 *
 * Each look-up has a resolver of its own, which can be ended alone, knows name servers that have changed, and is not
 * slowed down by those that failed others. Who asks for the same name meanwhile shares it; nothing is kept beyond it.
 */
export const hostResolver = ({ servers, lookUpMs = LOOK_UP_MS }: NameServers = {}): ResolveHost => {
  const underWay = new Map<string, Promise<readonly string[]>>();
  const lookUp: ResolveHost = async (hostname) => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), lookUpMs);
    try {
      return addressesIn(
        await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]),
      );
    } finally {
      clearTimeout(timer);
    }
  };
  return (hostname) => {
    const known = underWay.get(hostname);
    if (known) return known;
    const shared = lookUp(hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, shared);
    return shared;
  };
};

export const resolveHost = hostResolver();

/** Those first that this machine can dial: the first is the one that is called. */
const addressesIn = ([ipv4, ipv6]: readonly [
  PromiseSettledResult<string[]>,
  PromiseSettledResult<string[]>,
]): readonly string[] => {
  if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
  const [four, six] = [ipv4, ipv6].map((found) => (found.status === 'fulfilled' ? found.value : []));
  return isOnlyIpv6() ? [...six!, ...four!] : [...four!, ...six!];
};

const isOnlyIpv6 = (): boolean => {
  const outward = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:')),
  );
  return outward.length > 0 && outward.every(({ family }) => family === 'IPv6');
};
