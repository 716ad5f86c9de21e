import ipaddr from 'ipaddr.js';

/** A range of addresses: its first address, and the length of the prefix that all of them share. */
export type Network = readonly [first: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number];

/** Most networks of one key. Each request with the key is compared with every one. */
export const MAX_NETWORKS = 32;

const CIDR = /^([0-9a-f:.]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/i;
/** Bits before the IPv4 address in an IPv4-mapped IPv6 address, `::ffff:203.0.113.7`. */
const MAPPED_BITS = 96;

/**
 * Reads a network in CIDR notation, IPv4 or IPv6 (RFC 4632, RFC 4291). An address alone is the network of itself. An
 * IPv4-mapped network becomes the IPv4 one, as callers' addresses do.
 * @returns `null` for other text, and for a network with bits set after its prefix: one of the two is a mistake
 */
export const readNetwork = (text: string): Network | null => {
  const [, address = '', length] = CIDR.exec(text) ?? [];
  const first = addressOf(address);
  if (!first) return null;
  const widest = first.kind() === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? widest : Number(length);
  if (prefix > widest || !endsInZeros(first, prefix)) return null;
  if (first instanceof ipaddr.IPv6 && first.isIPv4MappedAddress() && prefix >= MAPPED_BITS)
    return [first.toIPv4Address(), prefix - MAPPED_BITS];
  return [first, prefix];
};

/** The one spelling in which a network is stored and shown. */
export const networkText = ([first, prefix]: Network): string => `${first.toString()}/${prefix}`;

/** @param address canonical; an IPv4-mapped one counts as IPv4 */
export const isWithin = (address: string, networks: readonly Network[]): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const one = ipaddr.process(address);
  return networks.some((network) => covers(network, one));
};

/** Whether each inner network is a part of one outer network. */
export const areWithin = (inner: readonly Network[], outer: readonly Network[]): boolean =>
  inner.every(([first, prefix]) => outer.some((network) => network[1] <= prefix && covers(network, first)));

const covers = ([first, prefix]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  first.kind() === address.kind() && address.match(first, prefix);

/** Not the forms that some programs read as octal or hexadecimal: 010.0.0.1 is not one address everywhere. */
const addressOf = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null;
};

const endsInZeros = (address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): boolean => {
  const text = address.toString();
  const kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return kind.networkAddressFromCIDR(`${text}/${prefix}`).toString() === text;
};
