import ipaddr from 'ipaddr.js';
import { isIPv4 } from 'node:net';

/**
 * The key of the address that a request comes from: that of the peer, or, behind so many reverse proxies, the one that
 * the outermost of them wrote into X-Forwarded-For. What stands before it there was written by the caller and is not
 * looked at. Text that is no address counts as none: then the address nearest to us is taken.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined, proxies: number): string => {
  const hop = outermost(peer, forwardedFor, proxies);
  return addressKey(hop) ?? peer;
};

/** The same address, whole. `null` when there is none, as of a connection that has closed. */
export const fullClientAddress = (
  peer: string,
  forwardedFor: string | undefined,
  proxies: number,
): string | null => fullAddress(outermost(peer, forwardedFor, proxies));

const outermost = (peer: string, forwardedFor: string | undefined, proxies: number): string => {
  if (proxies === 0 || forwardedFor === undefined) return peer;
  const hops = forwardedFor.split(',').slice(-proxies);
  return hops.find((hop) => parse(hop) !== null) ?? peer;
};

/** One spelling for an address: `::ffff:1.2.3.4` is 1.2.3.4. `null` for text that is no address. */
export const fullAddress = (text: string): string | null => {
  const address = parse(text);
  return typeof address === 'string' ? address : (address?.toString() ?? null);
};

/** As `fullAddress`, but an IPv6 address is its /64, since that is what one customer of a network is given. */
export const addressKey = (text: string): string | null => {
  const address = parse(text);
  if (address === null || typeof address === 'string') return address;
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

/** An address of IPv4 as text. */
const parse = (text: string): string | ipaddr.IPv6 | null => {
  // Nearly all of them, and every request pays for this.
  const short = text.startsWith(IPV4_IN_IPV6) ? text.slice(IPV4_IN_IPV6.length) : text;
  if (isIPv4(short)) return short;
  const bare = withoutPort(text.trim());
  if (bare.length > LONGEST) return null;
  if (isIPv4(bare)) return bare;
  if (!ipaddr.IPv6.isValid(bare)) return null;
  const address = ipaddr.process(bare);
  return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6);
};

const IPV4_IN_IPV6 = '::ffff:';
/** Eight groups, the dotted form of the last two, and a zone. */
const LONGEST = 64;

/** Some proxies write the port of the caller too: `1.2.3.4:80`, `[2001:db8::1]:80`. A zone is of the machine, not the address. */
const withoutPort = (text: string): string => {
  const [, inBrackets] = /^\[([^\]]{2,64})\](?::\d{1,5})?$/.exec(text) ?? [];
  const [, v4] = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text) ?? [];
  return (inBrackets ?? v4 ?? text).replace(/%.*$/s, '');
};
