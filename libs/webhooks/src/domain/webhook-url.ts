import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** The addresses that begin with so many bits of this one. */
export type AddressRange = readonly [Address, number];

/** @param cidrs in CIDR notation @throws Error for other text */
export const ranges = (...cidrs: readonly string[]): readonly AddressRange[] =>
  cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

/** Of IPv6 only this is global unicast; ipaddr.js names the ranges of special purpose (IANA) in it, and those of IPv4. */
const GLOBAL_IPV6 = ranges('2000::/3');

/** Prefixes that translate to IPv4 (NAT64, SIIT, IPv4-compatible), with the IPv4 address in their last bytes. */
const TRANSLATED = ranges('64:ff9b::/96', '::ffff:0:0:0/96', '::/96');
/** A network without IPv4 reaches every IPv4 host by such an address, which its name server makes (RFC 6052, RFC 6147). */
const WELL_KNOWN_NAT64 = ranges('64:ff9b::/96');
const LAST_BYTES = [12, 13, 14, 15];
const SIX_TO_FOUR = ranges('2002::/16');
/** Networks derive their own NAT64 prefixes from this one (RFC 8215), of 48, 56, 64 or 96 bits (RFC 6052, 2.2). */
const LOCAL_NAT64 = ranges('64:ff9b:1::/48');
const LOCAL_NAT64_BYTES = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST_BYTES];

/** Clouds' metadata addresses, which serve credentials, and all link-local ones: closed, whatever the operator opens. */
const METADATA = ranges(
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle
  '168.63.129.16/32', // Azure
  'fd00:ec2::/32', // AWS: 254, and 23 for pods
  'fd20:ce::254/128', // Google
);

/** Is this an address, not a name? Accepts the form in a URL's host: IPv6 with or without brackets. */
export const isAddress = (host: string): boolean => ipaddr.isValid(unbracketed(host));

export const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/**
 * May a webhook be sent to this address? One of the well-known NAT64 prefix leads to its IPv4 address, so that one decides.
 * @param address textual IPv4 or IPv6; anything else is refused
 * @param opened ranges the operator opened (WEBHOOK_ALLOW_CIDRS); metadata addresses stay closed
 */
export const isReachable = (address: string, opened: readonly AddressRange[]): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const embedded = embeddedIpv4(parsed);
  if ([parsed, ...embedded].some((one) => isIn(one, METADATA))) return false;
  if (isIn(parsed, WELL_KNOWN_NAT64)) return embedded.every((one) => isReachable(one.toString(), opened));
  if (isIn(parsed, opened)) return true;
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || isIn(parsed, GLOBAL_IPV6));
};

/** Different spellings of one address compare as equal. */
export const isSameAddress = (a: string, b: string): boolean =>
  ipaddr.isValid(a) && ipaddr.isValid(b) && isSame(ipaddr.process(a), ipaddr.process(b));

const isIn = (address: Address, among: readonly AddressRange[]): boolean =>
  among.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));

const isSame = (a: Address, b: Address): boolean => a.toNormalizedString() === b.toNormalizedString();

/** IPv4 addresses that a translating prefix may lead to. */
const embeddedIpv4 = (address: Address): readonly ipaddr.IPv4[] => {
  if (address.kind() === 'ipv4') return [];
  const bytes = address.toByteArray();
  return placesOfIpv4(address).map((places) => new ipaddr.IPv4(places.map((place) => bytes[place]!)));
};

const placesOfIpv4 = (address: Address): readonly (readonly number[])[] => {
  if (isIn(address, SIX_TO_FOUR)) return [[2, 3, 4, 5]];
  if (isIn(address, LOCAL_NAT64)) return LOCAL_NAT64_BYTES;
  return isIn(address, TRANSLATED) ? [LAST_BYTES] : [];
};

const MAX_URL_LENGTH = 2_048;

export interface UrlPolicy {
  readonly allowHttp: boolean;
  readonly allowCidrs: readonly AddressRange[];
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | {
      readonly ok: false;
      readonly code: 'invalid_webhook_url' | 'webhook_url_blocked';
      readonly detail: string;
    };

/** Blocked ports at or above 1024 (WHATWG Fetch, "port blocking"): browsers never speak HTTP to them. */
const BAD_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/**
 * Checks a webhook URL without resolving its name. Judges what the WHATWG parser makes of the text, and never the text, so
 * every spelling of an address (decimal, octal, hexadecimal, full-width) or a login is recognised. What is stored and
 * called is `url.href`.
 */
export const checkWebhookUrl = (text: string, policy: UrlPolicy): UrlVerdict => {
  const schemes = policy.allowHttp ? 'http:// or https://' : 'https://';
  if (text.length > MAX_URL_LENGTH) return invalid(`must be at most ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) return invalid(`must be an absolute URL that begins with ${schemes}`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(policy.allowHttp && url.protocol === 'http:'))
    return invalid(`must begin with ${schemes}`);
  if (url.username !== '' || url.password !== '') return invalid('must not hold a user name or password');
  // `hash` does not show an empty fragment.
  if (url.href.includes('#')) return invalid('must not have a fragment');
  if (url.href.length > MAX_URL_LENGTH) return invalid(`must be at most ${MAX_URL_LENGTH} characters`);
  if (!isOpenPort(portOf(url)))
    return invalid('must use port 80, 443, or one from 1024 that browsers do not block');
  return checkHost(url, policy);
};

/** The host of a webhook URL, whatever its spelling. @param url one that was checked */
export const hostOfUrl = (url: string): string => new URL(url).hostname.replace(/\.$/, '');

/** The port that is dialled. */
export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);

const checkHost = (url: URL, { allowCidrs }: UrlPolicy): UrlVerdict => {
  if (isAddress(url.hostname)) {
    return isReachable(unbracketed(url.hostname), allowCidrs)
      ? { ok: true, url }
      : blocked('leads to a blocked address');
  }
  const labels = url.hostname.replace(/\.$/, '').split('.');
  const [last] = labels.slice(-1);
  if (last === 'localhost' || last === 'internal')
    return blocked(
      `leads to a name that is only known inside a network${last === 'localhost' ? IN_DEVELOPMENT : ''}`,
    );
  if (labels.length < 2 || labels.includes('')) return invalid('must name a host with a domain');
  return { ok: true, url };
};

/** A name that is only known inside a network is never taken, whatever is open: it may lead elsewhere tomorrow. */
const IN_DEVELOPMENT =
  '; in development use 127.0.0.1, which the service has to open: WEBHOOK_ALLOW_CIDRS=127.0.0.0/8';

const isOpenPort = (port: number): boolean =>
  port === 80 || port === 443 || (port >= 1_024 && !BAD_PORTS.has(port));

const invalid = (detail: string): UrlVerdict => ({ ok: false, code: 'invalid_webhook_url', detail });
const blocked = (detail: string): UrlVerdict => ({ ok: false, code: 'webhook_url_blocked', detail });
