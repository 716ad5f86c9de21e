/** What a timer of Node takes, milliseconds; a longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** The base URL without a trailing slash. @throws TypeError for an unusable URL */
export const checkedBaseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isUsable || /\/api\/v1\/*$/.test(url.pathname)) {
    const said = text === undefined ? 'nothing' : JSON.stringify(text);
    throw new TypeError(
      `baseUrl must be an http or https URL without /api/v1, such as https://readings.example.com; it is ${said}`,
    );
  }
  return url.href.replace(/\/+$/, '');
};

/** A credential, without the space around it. Errors never show it. @throws TypeError for what no header can hold */
export const checkedCredential = (name: 'apiKey' | 'token', credential: string): string => {
  const text = typeof credential === 'string' ? credential.trim() : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError(`${name} must have only printable ASCII characters, without spaces`);
};

/** @throws TypeError for a key that the service would refuse */
export const checkedIdempotencyKey = (key: string): string => {
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new TypeError(`idempotencyKey must be 1 to 255 printable ASCII characters; it is ${shown(key)}`);
};

/** @throws TypeError for a number below `least`, and for what is no number */
export const checkedNumber = (name: string, value: number, least: number): number => {
  if (typeof value === 'number' && value >= least) return value;
  throw new TypeError(`${name} must be a number of ${least} or more; it is ${shown(value)}`);
};

/** @throws TypeError for a timeout that a timer does not take */
export const checkedTimeout = (value: number): number => {
  if (Number.isInteger(value) && value >= 1 && value <= LONGEST_TIMER_MS) return value;
  throw new TypeError(
    `timeoutMs must be a whole number of milliseconds, 1 to 2147483647; it is ${shown(value)}`,
  );
};

const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));
