import type { Answer } from '../../support/integrator.js';

/** Headers that the interface promises. Only the presence of some is recorded. */
const HEADERS = [
  'content-type',
  'location',
  'retry-after',
  'etag',
  'idempotency-replayed',
  'preference-applied',
  'content-disposition',
  'allow',
  'www-authenticate',
  'cache-control',
  'ratelimit-policy',
  'x-request-id',
];
const PRESENCE = new Set(['etag', 'ratelimit-policy', 'x-request-id']);

/** Human-readable texts, whose wording may change. */
const TEXTS = new Set(['title', 'detail']);

/** Members that differ in each run and refer to nothing else. */
const OPAQUE = new Set(['secretHint', 'nextCursor']);

const plainMember = (name: string, value: unknown): unknown => {
  if (TEXTS.has(name)) return undefined;
  return OPAQUE.has(name) && typeof value === 'string' ? '<opaque>' : value;
};

const VARIABLE = new RegExp(
  [
    String.raw`(?:art_|we_|evt_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
    String.raw`ws_[0-9A-Za-z]{22}`,
    String.raw`whsec_[0-9A-Za-z+/=]+`,
    String.raw`req_[0-9A-Za-z-]+`,
    String.raw`(?<=/keys/)[0-9A-Za-z]{8}`,
    String.raw`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`,
  ].join('|'),
  'g',
);

/** Replaces values that differ from run to run by `<id 1>`, `<id 2>` …; equal values get the same name. */
export class Names {
  private readonly known = new Map<string, string>();

  /** Names a value that no pattern matches. */
  add(value: string, name: string): void {
    this.known.set(value, `<${name}>`);
  }

  in(text: string): string {
    const own = [...this.known].filter(([value]) => !new RegExp(`^(?:${VARIABLE.source})$`).test(value));
    const named = own.reduce((result, [value, name]) => result.replaceAll(value, name), text);
    return named.replace(VARIABLE, (value) => {
      if (value.endsWith('Z') && value.includes('T') && value.includes(':')) return '<time>';
      if (value.startsWith('req_')) return '<request id>';
      if (!this.known.has(value)) this.known.set(value, `<id ${this.known.size + 1}>`);
      return this.known.get(value)!;
    });
  }
}

/** The members and their types only, for answers that depend on the date. */
export const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
};

/** An answer without the values that differ from run to run. Members keep their order. */
export const plainAnswer = ({ status, headers, body }: Answer<unknown>, names: Names) => ({
  status,
  headers: Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = headers.get(name);
      if (value === null) return [];
      return [[name, PRESENCE.has(name) ? 'present' : names.in(value)]];
    }),
  ),
  body: JSON.parse(names.in(JSON.stringify(body, plainMember))) as unknown,
});
