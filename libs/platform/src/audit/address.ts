import ipaddr from 'ipaddr.js';
import { isIPv4 } from 'node:net';

const IPV4_IN_IPV6 = '::ffff:';

/** One spelling for an address: IPv4 within IPv6 is IPv4, zones are dropped. `null` for what is no address. */
export const normalAddress = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  // Nearly all of them, and every request pays for this.
  const short = text.startsWith(IPV4_IN_IPV6) ? text.slice(IPV4_IN_IPV6.length) : text;
  if (isIPv4(short)) return short;
  const [plain = ''] = text.split('%');
  return ipaddr.isValid(plain) ? ipaddr.process(plain).toString() : null;
};

/** Who may choose any address of an IPv6 network of 64 bits is one sender. */
export const senderOf = (address: string | null): string | null => {
  if (address === null || !ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
};
