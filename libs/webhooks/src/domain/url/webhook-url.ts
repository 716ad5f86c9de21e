import { isAddress, isReachable, unbracketed } from './addresses.js';

export const MAXIMUM_URL_LENGTH = 2_048;

export interface UrlPolicy {
  /** Also accept http://, not only https://. */
  readonly allowHttp: boolean;
  /** Private ranges that are open, as CIDRs. */
  readonly allowCidrs: readonly string[];
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
  if (text.length > MAXIMUM_URL_LENGTH) return invalid(`must be at most ${MAXIMUM_URL_LENGTH} characters`);
  if (!URL.canParse(text)) return invalid(`must be an absolute URL that begins with ${schemes}`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(policy.allowHttp && url.protocol === 'http:'))
    return invalid(`must begin with ${schemes}`);
  if (url.username !== '' || url.password !== '') return invalid('must not hold a user name or password');
  // `hash` does not show an empty fragment.
  if (url.href.includes('#')) return invalid('must not have a fragment');
  if (url.href.length > MAXIMUM_URL_LENGTH)
    return invalid(`must be at most ${MAXIMUM_URL_LENGTH} characters`);
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
