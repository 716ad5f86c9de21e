import ipaddr from 'ipaddr.js';

/** One spelling for an address: IPv4 within IPv6 is IPv4, zones are dropped. `null` for what is no address. */
export const normalAddress = (text: string | undefined): string | null => {
  const [plain = ''] = (text ?? '').split('%');
  return ipaddr.isValid(plain) ? ipaddr.process(plain).toString() : null;
};

/** Who may choose any address of an IPv6 network of 64 bits is one sender. */
export const senderOf = (address: string | null): string | null => {
  if (address === null || !ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
};
