/** Headers that an owner adds to the deliveries of an endpoint: values by lower-case name. */
export type CustomHeaders = Readonly<Record<string, string>>;

export const MAX_HEADERS = 10;
export const MAX_NAME_LENGTH = 64;
export const MAX_VALUE_LENGTH = 1_000;

/** A token (RFC 9110, 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII, with spaces inside (RFC 9110, 5.5): nothing that could end the line. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** What frames the request, or what the service says itself. `authorization` and `cookie` are open: receivers ask for them. */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const RESERVED_PREFIXES = ['content-', 'proxy-', 'webhook-', 'x-forwarded-', 'x-service-'];

const RESERVED_SHOWN = [...RESERVED, ...RESERVED_PREFIXES.map((prefix) => `${prefix}*`)].join(', ');

interface HeaderFault {
  /** As the caller wrote it; `null`: of all together. */
  readonly name: string | null;
  readonly code: 'too_many' | 'invalid_name' | 'reserved_name' | 'repeated_name' | 'invalid_value';
  readonly detail: string;
}

const isReserved = (name: string): boolean =>
  RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));

/** Why these headers cannot be sent. Never repeats a value. @param options.isPatch a `HeadersPatch`, whose number says nothing */
export const headerFaults = (
  headers: Readonly<Record<string, unknown>>,
  { isPatch = false } = {},
): readonly HeaderFault[] => {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS && !isPatch)
    return [{ name: null, code: 'too_many', detail: `must have at most ${MAX_HEADERS} headers` }];
  const seen = new Set<string>();
  return names.flatMap((name): readonly HeaderFault[] => {
    const key = name.toLowerCase();
    const isRepeated = seen.has(key);
    seen.add(key);
    const fault = (code: HeaderFault['code'], detail: string) => [{ name, code, detail }];
    if (!NAME.test(name) || name.length > MAX_NAME_LENGTH)
      return fault('invalid_name', `must be named by a token of at most ${MAX_NAME_LENGTH} characters`);
    if (isReserved(key)) return fault('reserved_name', `is reserved, like ${RESERVED_SHOWN}`);
    if (isRepeated) return fault('repeated_name', 'names a header twice');
    const value = headers[name];
    if (isPatch && value === null) return [];
    return typeof value !== 'string' || !VALUE.test(value) || value.length > MAX_VALUE_LENGTH
      ? fault(
          'invalid_value',
          `must be 1 to ${MAX_VALUE_LENGTH} visible ASCII characters, with spaces only inside`,
        )
      : [];
  });
};

/** A change of headers (RFC 7396): a value replaces, null removes, and what is not named stays. `null` removes all. */
export type HeadersPatch = Readonly<Record<string, string | null>> | null;

/** The headers after a change. @param headers canonical */
export const mergeHeaders = (headers: CustomHeaders, patch: HeadersPatch): CustomHeaders =>
  Object.fromEntries(
    Object.entries(patch === null ? {} : { ...headers, ...canonicalHeaders(patch) }).flatMap(
      ([name, value]) => (value === null ? [] : [[name, value]]),
    ),
  );

/** Whether a change says something of each header. @param patch `undefined`: of none @param headers canonical */
export const namesAll = (patch: HeadersPatch | undefined, headers: CustomHeaders): boolean =>
  patch === null || Object.keys(headers).every((name) => Object.hasOwn(canonicalHeaders(patch ?? {}), name));

/** Names in lower case, sorted. @param headers without fault */
export const canonicalHeaders = <Value>(
  headers: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
