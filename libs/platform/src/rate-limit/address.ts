import ipaddr from 'ipaddr.js';

/**
 * The address that a request comes from: that of the peer, or, behind so many reverse proxies, the one that the outermost
 * of them wrote into X-Forwarded-For. What stands before it there was written by the caller and is not looked at. Text
 * that is no address counts as none: then the address nearest to us is taken.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined, proxies: number): string => {
  if (proxies === 0 || forwardedFor === undefined) return addressKey(peer) ?? peer;
  const hops = forwardedFor.split(',').slice(-proxies);
  const nearest = hops.find((hop) => addressKey(hop) !== null) ?? peer;
  return addressKey(nearest) ?? peer;
};

/**
 * One form for all spellings of an address: `::ffff:1.2.3.4` is 1.2.3.4, an IPv6 address is its /64, since that is what
 * one customer of a network is given. `null` for text that is no address.
 */
export const addressKey = (text: string): string | null => {
  const bare = withoutPort(text.trim());
  if (bare.length > LONGEST || !ipaddr.isValid(bare)) return null;
  const address = ipaddr.process(bare);
  if (address.kind() === 'ipv4') return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

/** Eight groups, the dotted form of the last two, and a zone. */
const LONGEST = 64;

/** Some proxies write the port of the caller too: `1.2.3.4:80`, `[2001:db8::1]:80`. A zone is of the machine, not the address. */
const withoutPort = (text: string): string => {
  const [, inBrackets] = /^\[([^\]]{2,64})\](?::\d{1,5})?$/.exec(text) ?? [];
  const [, v4] = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text) ?? [];
  return (inBrackets ?? v4 ?? text).replace(/%.*$/s, '');
};
