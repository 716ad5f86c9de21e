import { z } from 'zod';
import type { PostingRow } from '../src/audit/export-book.js';
import { ACCOUNTS, creditsEvents } from '../src/contracts/events.js';
import type { LedgerFooter } from '../src/contracts/audit.js';
import type { Money } from '../src/contracts/queries.js';

/** Every member that a schema has, such as `openGrants.[].kind`. Maps of accounts have none. */
export const membersOf = (schema: z.core.JSONSchema._JSONSchema): string[] => {
  if (typeof schema === 'boolean') return [];
  const { properties = {}, items, anyOf = [] } = schema;
  const within = (name: string, inner: z.core.JSONSchema._JSONSchema): string[] =>
    membersOf(inner).map((member) => `${name}.${member}`);
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [name, ...within(name, inner)]),
    ...(items === undefined || Array.isArray(items) ? [] : within('[]', items)),
    ...anyOf.flatMap(membersOf),
  ];
};

const MONEY: Readonly<Record<keyof Money, true>> = {
  currency: true,
  opening: true,
  sales: true,
  earned: true,
  breakage: true,
  corrections: true,
  refunds: true,
  closing: true,
};
const POSTING: Readonly<Record<'kind' | keyof PostingRow, true>> = {
  kind: true,
  revision: true,
  line: true,
  account: true,
  debit: true,
  credit: true,
  grantId: true,
  availableAfter: true,
  heldAfter: true,
};
/** With the members inside each. */
const FOOTER: Readonly<Record<'kind' | keyof LedgerFooter, readonly string[]>> = {
  kind: [],
  events: [],
  postings: [],
  unreadable: ['entries', 'sha256'],
  totals: [],
  closing: [],
  headRevision: [],
  headHash: [],
  period: [],
  money: Object.keys(MONEY),
};

const text = z.string();
const headerLine = z.strictObject({
  kind: text,
  format: text,
  workspaceId: text,
  stream: text,
  period: text.nullable(),
  firstRevision: text.nullable(),
  previousChain: text,
  opening: z.record(z.enum(ACCOUNTS), z.int()),
});
const facts = z.strictObject({
  data: z.unknown(),
  eventId: text,
  occurredAt: text,
  revision: text,
  schemaVersion: z.int(),
  stream: text,
  type: text,
});
const eventLine = z.strictObject({ kind: text, facts, chain: text });
const unreadableLine = z.strictObject({
  kind: text,
  revision: text,
  eventId: text,
  type: text,
  occurredAt: text,
  problem: text.nullable(),
  setAside: z.strictObject({ by: text, at: text, reason: text }).nullable(),
  facts: facts.nullable(),
  chain: text,
});

const inSchema = (kind: string, schema: z.ZodType): string[] =>
  membersOf(z.toJSONSchema(schema)).map((member) => `${kind} ${member}`);

/**
 * Every member that a line of an export can have, such as `event PlanGranted facts.data.credits`, from the schemas. A
 * type makes a new one of a posting or footer fail to compile until it is listed.
 */
export const everyMember = (): string[] => [
  ...inSchema('header', headerLine),
  ...Object.entries(creditsEvents.definitions).flatMap(([type, { schema }]) => [
    ...inSchema(`event ${type}`, eventLine),
    ...inSchema(`event ${type}`, z.object({ facts: z.object({ data: schema }) })).slice(1),
  ]),
  ...inSchema('unreadable', unreadableLine),
  ...Object.keys(POSTING).map((name) => `posting ${name}`),
  ...Object.entries(FOOTER).flatMap(([name, inner]) => [
    `footer ${name}`,
    ...inner.map((one) => `footer ${name}.${one}`),
  ]),
];
