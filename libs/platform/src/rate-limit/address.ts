import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { isIPv4 } from 'node:net';

/**
 * The key of the address that a request comes from: the peer's or, behind trusted proxies, the one that the outermost of
 * them wrote into X-Forwarded-For, as Express finds it. Ignores text that is not an address.
 */
export const clientAddress = (request: Request): string => addressOf(request, addressKey) ?? '';

/** The same address in full. `null` when there is none, as for a closed connection. */
export const fullClientAddress = (request: Request): string | null => addressOf(request, fullAddress);

const addressOf = ({ ip = '', socket }: Request, read: (text: string) => string | null): string | null =>
  read(ip) ?? read(socket.remoteAddress ?? '');

/** The canonical spelling of an address: `::ffff:1.2.3.4` becomes 1.2.3.4. `null` for text that is not an address. */
export const fullAddress = (text: string): string | null => {
  const address = parse(text);
  return typeof address === 'string' ? address : (address?.toString() ?? null);
};

/** Like `fullAddress`, but an IPv6 address becomes its /64, which is what a network assigns to one customer. */
export const addressKey = (text: string): string | null => {
  const address = parse(text);
  if (address === null || typeof address === 'string') return address;
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

/** An IPv4 address as text. */
const parse = (text: string): string | ipaddr.IPv6 | null => {
  const bare = withoutPort(text.trim());
  if (bare.length > LONGEST) return null;
  if (isIPv4(bare)) return bare;
  if (!ipaddr.IPv6.isValid(bare)) return null;
  const address = ipaddr.process(bare);
  return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6);
};

/** Eight groups, with the dotted form of the last two, and a zone. */
const LONGEST = 64;

/**
 * Some proxies also write the caller's port: `1.2.3.4:80`, `[2001:db8::1]:80`. A zone belongs to the machine, not the
 * address.
 */
const withoutPort = (text: string): string => {
  const [, inBrackets] = /^\[([^\]]{2,64})\](?::\d{1,5})?$/.exec(text) ?? [];
  const [, v4] = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text) ?? [];
  return (inBrackets ?? v4 ?? text).replace(/%.*$/s, '');
};
