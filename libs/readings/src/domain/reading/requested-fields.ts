import { z } from 'zod';
import type { Locale } from '#numerology/index.js';

/**
 * What a request may specify besides the input: one line per field, with shape and example. The row's columns, the
 * record, the resource and its schema are derived from it. An omitted field is null.
 */
const FIELDS = {
  productId: { schema: z.string().describe('What was ordered'), example: 'theme' },
  profileId: { schema: z.string().describe('The rules of the calculation'), example: 'evan' },
  locale: {
    schema: z.enum(['fr-FR', 'en-US'] satisfies Locale[]).describe('Language of the texts'),
    example: 'fr-FR',
  },
} as const satisfies Readonly<Record<string, { schema: z.ZodType; example: unknown }>>;

type Fields = typeof FIELDS;
type Name = keyof Fields;
export type RequestedFields = { readonly [N in Name]: z.infer<Fields[N]['schema']> };

const NAMES = Object.keys(FIELDS) as readonly Name[];

/** Plain loops: every request and every folded event comes here. */
const collect = <T>(valueOf: (name: Name) => unknown): T => {
  const collected: Record<string, unknown> = {};
  for (const name of NAMES) collected[name] = valueOf(name);
  return collected as T;
};

/** A field that a caller may omit, if it is nullable. */
type Given = {
  readonly [N in Name as null extends RequestedFields[N] ? N : never]?: RequestedFields[N] | undefined;
} & { readonly [N in Name as null extends RequestedFields[N] ? never : N]: RequestedFields[N] };

/** Picks these fields from an object that has them. */
export const requestedFields = (from: Given): RequestedFields =>
  collect((name) => (from as Partial<RequestedFields>)[name] ?? null);

export const REQUESTED_SCHEMAS: { readonly [N in Name]: Fields[N]['schema'] } = collect(
  (name) => FIELDS[name].schema,
);
export const REQUESTED_EXAMPLE: RequestedFields = collect((name) => FIELDS[name].example);

type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : S;

/** The fields as columns: `productId` is `product_id`. */
export type RequestedColumns = { readonly [N in Name as Snake<N>]: RequestedFields[N] };

const columnOf = <N extends string>(name: N): Snake<N> =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as Snake<N>;

const COLUMN_OF = collect<{ readonly [N in Name]: Snake<N> }>(columnOf);

export const REQUESTED_COLUMNS: readonly (keyof RequestedColumns)[] = Object.values(COLUMN_OF);

export const toColumns = (fields: RequestedFields): RequestedColumns => {
  const columns: Record<string, unknown> = {};
  for (const name of NAMES) columns[COLUMN_OF[name]] = fields[name];
  return columns as RequestedColumns;
};

export const fromColumns = (columns: RequestedColumns): RequestedFields =>
  collect((name) => columns[COLUMN_OF[name]]);
