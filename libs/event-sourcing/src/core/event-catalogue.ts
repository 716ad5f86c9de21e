import type { z } from 'zod';
import type { DomainEvent, Recorded, StoredEvent } from './event.js';
import { findUnstorable } from './storable-text.js';
import { categoryOf } from './stream-name.js';

/** Upgrades data from version n to n + 1. Small and pure; never removed. */
export type Upcaster = (data: unknown) => unknown;

export interface EventDefinition<Schema extends z.ZodType = z.ZodType> {
  /** The current version: the one written. */
  readonly version: number;
  readonly schema: Schema;
  /** Keyed by the version they upgrade; one for each version below the current one. */
  readonly upcasters: Readonly<Record<number, Upcaster>>;
}

/** Defines an event type: its current version and schema, and an upcaster for each older version. */
export const event = <Schema extends z.ZodType>(
  version: number,
  schema: Schema,
  upcasters: Readonly<Record<number, Upcaster>> = {},
): EventDefinition<Schema> => ({ version, schema, upcasters });

/** A stored event that does not decode. Never skipped silently, never cast. */
export class CorruptEvent extends Error {
  override readonly name = 'CorruptEvent';
  constructor(
    readonly at: { stream: string; revision: bigint; type: string },
    reason: string,
  ) {
    super(`${at.stream}@${at.revision} (${at.type}): ${reason}`);
  }
}

type Definitions = Readonly<Record<string, EventDefinition>>;

/** All events of one stream category: maps each type name to its schema and upcasters. */
export interface EventCatalogue<D extends Definitions = Definitions> {
  readonly category: string;
  readonly definitions: D;
}

/** The union of events a catalogue describes. */
export type EventOf<C extends EventCatalogue> =
  C extends EventCatalogue<infer D>
    ? { [T in keyof D & string]: DomainEvent<T, z.infer<D[T]['schema']>> }[keyof D & string]
    : never;

/** The events of several catalogues as a reader receives them: decoded, with their positions in the log. */
export type RecordedOf<C extends readonly EventCatalogue[]> = Recorded<EventOf<C[number]>>;

export const eventCatalogue = <const D extends Definitions>(
  category: string,
  definitions: D,
): EventCatalogue<D> => ({
  category,
  definitions,
});

/**
 * The part of a catalogue that a reader handles. Events of other types are neither decoded nor delivered, so a corrupt
 * one does not stop this reader.
 */
export const selectEvents = <D extends Definitions, const T extends keyof D & string>(
  { category, definitions }: EventCatalogue<D>,
  ...types: readonly [T, ...T[]]
): EventCatalogue<Pick<D, T>> => ({
  category,
  definitions: Object.fromEntries(types.map((type) => [type, definitions[type]])) as Pick<D, T>,
});

/** Validates data before it is stored and returns the version to record. Throws TypeError: a bug in the writer. */
export const encode = (
  catalogue: EventCatalogue,
  type: string,
  data: unknown,
): { data: unknown; version: number } => {
  const definition = catalogue.definitions[type];
  if (!definition) throw new TypeError(`${catalogue.category} has no event ${type}`);
  const parsed = definition.schema.safeParse(data);
  if (!parsed.success) throw new TypeError(`${type} does not match its schema: ${describe(parsed.error)}`);
  // Consumers write this text to PostgreSQL: one event that it cannot store would stop them all.
  const unstorable = findUnstorable(parsed.data);
  if (unstorable !== null) throw new TypeError(`${type} holds text that no database keeps: ${unstorable}`);
  return { data: parsed.data, version: definition.version };
};

/**
 * Decodes a stored event of this catalogue's category: upcasts, validates and types it.
 * @throws CorruptEvent on an unknown type, a missing upcaster, a newer version, or data that does not match.
 */
export const decode = <C extends EventCatalogue>(catalogue: C, stored: StoredEvent): Recorded<EventOf<C>> => {
  const definition = catalogue.definitions[stored.type];
  if (!definition) throw new CorruptEvent(stored, `not an event of category ${catalogue.category}`);
  let data = stored.data;
  let version = stored.metadata.schemaVersion;
  if (version > definition.version)
    throw new CorruptEvent(stored, `version ${version} is newer than this program`);
  for (; version < definition.version; version += 1) {
    const upcast = definition.upcasters[version];
    if (!upcast) throw new CorruptEvent(stored, `no upcaster from version ${version}`);
    data = upcast(data);
  }
  const parsed = definition.schema.safeParse(data);
  if (!parsed.success) throw new CorruptEvent(stored, describe(parsed.error));
  return { ...stored, data: parsed.data } as Recorded<EventOf<C>>;
};

/**
 * Decodes with the catalogue of the event's category. Returns `null` for a category or type that the reader does not
 * follow. For projections and processes, which read events of several modules.
 */
export const decodeAny = <const C extends readonly EventCatalogue[]>(
  catalogues: C,
  stored: StoredEvent,
): RecordedOf<C> | null => {
  const catalogue = catalogues.find(({ category }) => category === categoryOf(stored.stream));
  return catalogue?.definitions[stored.type] ? (decode(catalogue, stored) as RecordedOf<C>) : null;
};

/** Paths and codes only: an event may hold sealed or private data, so messages never contain values. */
const describe = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.code}`).join('; ');
