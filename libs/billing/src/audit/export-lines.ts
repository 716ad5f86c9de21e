import { z } from 'zod';
import { CorruptEvent, decode } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { ACCOUNTS, creditsEvents } from '../contracts/events.js';
import { EXPORT_FORMATS } from './export-rows.js';

const chain = z.string().regex(/^[0-9a-f]{64}$/);
const revision = z.string().regex(/^(0|[1-9]\d*)$/);
/** The first line of an export. */
export const headerLine = z.strictObject({
  kind: z.literal('header'),
  format: z.enum(EXPORT_FORMATS),
  workspaceId: z.string(),
  stream: z.string(),
  period: z
    .string()
    .regex(/^\d{4}-\d\d$/)
    .nullable()
    .optional(),
  firstRevision: revision.nullable(),
  previousChain: chain,
  opening: z.record(z.enum(ACCOUNTS), z.int()),
});
export type ExportStart = z.infer<typeof headerLine>;

/** The line of an event. Its postings and the footer follow from the events. */
export const eventLine = z.strictObject({
  kind: z.literal('event'),
  facts: z.strictObject({
    data: z.unknown(),
    eventId: z.string(),
    occurredAt: z.string(),
    revision,
    schemaVersion: z.int(),
    stream: z.string(),
    type: z.string(),
  }),
  chain: z.string().nullable(),
});

/** What the chain covers of an event. */
export type EventFacts = z.infer<typeof eventLine>['facts'];

/** The line of an entry that is shown and not interpreted. */
export const unreadableLine = z.strictObject({
  kind: z.literal('unreadable'),
  revision,
  eventId: z.string(),
  type: z.string(),
  occurredAt: z.string(),
  problem: z.string().nullable(),
  quarantine: z.strictObject({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
  /** `null`: the chain goes past it. */
  facts: eventLine.shape.facts.nullable(),
  chain,
});
export type UnreadableLine = z.infer<typeof unreadableLine>;

/** The member that an issue is about. Unknown members are at their parent's path. */
export const memberOf = (issue: z.core.$ZodIssue): string =>
  [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys : [])].join('.') || 'text';

/** The event of a line, as the store would return it, without what the chain does not cover. */
export const storedEvent = ({ facts, chain: value }: z.infer<typeof eventLine>): StoredEvent => ({
  id: facts.eventId,
  stream: facts.stream,
  revision: BigInt(facts.revision),
  position: 0n,
  type: facts.type,
  data: facts.data,
  metadata: {
    correlationId: '',
    causationId: '',
    workspaceId: '',
    actor: '',
    occurredAt: facts.occurredAt,
    schemaVersion: facts.schemaVersion,
    ...(value === null ? {} : { chain: value }),
  },
});

/** The entry of a line, passed over as verifiers do with all of them: whether it is a finding is not the book's matter. */
export const passedOverEvent = (
  { facts, chain: value, ...entry }: UnreadableLine,
  stream: string,
): StoredEvent => {
  const shown = { data: null, schemaVersion: 0, stream, ...entry };
  const stored = storedEvent({ kind: 'event', facts: facts ?? shown, chain: facts && value });
  return { ...stored, quarantine: { consumers: null, by: '', reason: '', at: '', until: null } };
};

/** The first member in which an entry and its hashed facts differ. */
export const unlikeFacts = ({ facts, ...entry }: UnreadableLine, stream: string): string | null => {
  if (!facts) return null;
  const own = { ...entry, stream };
  const member = (['stream', 'revision', 'eventId', 'type', 'occurredAt'] as const).find(
    (name) => facts[name] !== own[name],
  );
  return member ? `facts.${member}` : null;
};

/** What is wrong with the reason that a line gives for passing over its entry; `null`: the file shows nothing wrong. */
export const passedOverWrongly = ({ facts, problem }: UnreadableLine): string | null => {
  if (problem === null) return 'the entry can be read, but readers pass over it';
  return facts !== null && isReadable(facts)
    ? 'the entry is said to be unreadable, but it can be read'
    : null;
};

/** Whether this program can read an event with these facts. */
export const isReadable = (facts: EventFacts): boolean => {
  try {
    decode(creditsEvents, storedEvent({ kind: 'event', facts, chain: null }));
    return true;
  } catch (error) {
    if (!(error instanceof CorruptEvent)) throw error;
    return false;
  }
};

/** `text` when the line has a byte order mark or ends with CR; these are not part of its JSON. */
export const textFault = (line: string): 'text' | null =>
  line.startsWith('\uFEFF') || line.endsWith('\r') ? 'text' : null;

/** The member, as a path with dots, in which two lines of JSON differ: by value, or else by how it is written. */
export const firstDifference = (given: string, written: string): string =>
  differing(JSON.parse(given), JSON.parse(written)) ?? memberAround(given, written);

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const differing = (given: unknown, written: unknown): string | null => {
  if (!isMembers(given) || !isMembers(written)) return null;
  const names = [...Object.keys(written), ...Object.keys(given)];
  for (const name of names) {
    const [one, other] = [given[name], written[name]];
    if (name in given && name in written && JSON.stringify(one) === JSON.stringify(other)) continue;
    const inner = name in given && name in written ? differing(one, other) : null;
    return inner === null ? name : `${name}.${inner}`;
  }
  return null;
};

/** The name of the member where two texts of equal value part. */
const memberAround = (given: string, written: string): string => {
  let at = 0;
  while (given[at] === written[at] && at < given.length) at += 1;
  const names = [...given.matchAll(/"((?:[^"\\]|\\.)*)":/g)].filter(({ index }) => index <= at + 1);
  return names.at(-1)?.[1] ?? 'text';
};
