import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

/** Every address of a host name; rejects when there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Longest whole look-up of a name. Answers received by then are used. */
const LOOK_UP_MS = 5_000;
/** Time after which a query is repeated: the first may have been lost. */
const TRY_MS = 2_000;
const TRIES = 2;
/** How long the addresses that would be dialled wait for the others: some name servers never answer for one family. */
const OTHER_FAMILY_MS = 500;

export interface NameServers {
  /** `address:port`; by default the machine's own name servers. */
  readonly servers?: readonly string[];
  readonly lookUpMs?: number;
}

/**
 * Resolves names without the threads of the process. The system resolver occupies one of four threads for as long as a
 * customer's name server takes. That would delay all other look-ups and the file access of this process. Names must
 * therefore be complete and known to DNS: the hosts file and search domains do not apply.
 *
 * Each look-up has its own resolver. It can be cancelled alone, uses the current name servers, and is not slowed down
 * by servers that failed for others. Concurrent callers for the same name share a look-up. Nothing is cached
 * afterwards.
 */
export const hostResolver = ({ servers, lookUpMs = LOOK_UP_MS }: NameServers = {}): ResolveHost => {
  const pending = new Map<string, Promise<readonly string[]>>();
  const lookUp: ResolveHost = async (hostname) => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const cancelAfter = (milliseconds: number) => setTimeout(() => resolver.cancel(), milliseconds);
    const timers = [cancelAfter(lookUpMs)];
    const queries = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    const [ipv4, ipv6] = queries;
    (isOnlyIpv6() ? ipv6 : ipv4).then(
      () => timers.push(cancelAfter(OTHER_FAMILY_MS)),
      () => undefined,
    );
    try {
      return addressesIn(await Promise.allSettled(queries));
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  };
  return (hostname) => {
    const known = pending.get(hostname);
    if (known) return known;
    const shared = lookUp(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, shared);
    return shared;
  };
};

export const resolveHost = hostResolver();

/** Addresses that this machine can reach come first: the first one is dialled. */
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
