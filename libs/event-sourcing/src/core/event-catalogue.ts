import type { z } from 'zod';
import { isSetAside, type DomainEvent, type SetAside, type Recorded, type StoredEvent } from './event.js';
import { categoryOf, streamId } from './stream-name.js';

/** Whether PostgreSQL can store the text unchanged: it contains neither U+0000 nor a lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/** The path of a text that PostgreSQL cannot store, such as `grants.0.label`; `null` when there is none. */
const findUnstorable = (value: unknown): string | null => {
  if (typeof value === 'string') return isStorable(value) ? null : '';
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = findUnstorable(member);
    if (found !== null) return found === '' ? name : `${name}.${found}`;
  }
  return null;
};

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
    readonly reason: string,
  ) {
    super(`${at.stream}@${at.revision} (${at.type}): ${reason}`);
  }
}

type Definitions = Readonly<Record<string, EventDefinition>>;

/** All events of one stream category: maps each type name to its schema and upcasters. */
export interface EventCatalogue<D extends Definitions = Definitions> {
  readonly category: string;
  readonly definitions: D;
  /** Set by `selectEvents`: its reader ignores the other types of the category. */
  readonly isSelection?: true;
  /** The id of a stream is that of its workspace. */
  readonly streamsOf?: 'workspaces';
}

/** The union of events a catalogue describes. */
export type EventOf<C extends EventCatalogue> =
  C extends EventCatalogue<infer D>
    ? { [T in keyof D & string]: DomainEvent<T, z.infer<D[T]['schema']>> }[keyof D & string]
    : never;

/** The events of several catalogues as a reader receives them: decoded, with their positions in the log. */
export type RecordedOf<C extends readonly EventCatalogue[]> = Recorded<EventOf<C[number]>>;

export const eventCatalogue = <const D extends Definitions>(
  streams: string | Pick<EventCatalogue, 'category' | 'streamsOf'>,
  definitions: D,
): EventCatalogue<D> => ({
  ...(typeof streams === 'string' ? { category: streams } : streams),
  definitions,
});

/** A category whose streams have the ids of workspaces. */
export const byWorkspace = (category: string) => ({ category, streamsOf: 'workspaces' }) as const;

/**
 * The part of a catalogue that a reader handles. Events of other types are neither decoded nor delivered, so a corrupt
 * one does not stop this reader. A reader of the whole catalogue stops at a type that it does not know.
 */
export const selectEvents = <D extends Definitions, const T extends keyof D & string>(
  { category, definitions, ...options }: EventCatalogue<D>,
  ...types: readonly [T, ...T[]]
): EventCatalogue<Pick<D, T>> => ({
  ...options,
  category,
  definitions: Object.fromEntries(types.map((type) => [type, definitions[type]])) as Pick<D, T>,
  isSelection: true,
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
  const definition = Object.hasOwn(catalogue.definitions, stored.type)
    ? catalogue.definitions[stored.type]
    : undefined;
  if (!definition) throw new CorruptEvent(stored, `not an event of category ${catalogue.category}`);
  let data = stored.data;
  let version = stored.metadata.schemaVersion;
  if (version > definition.version)
    throw new CorruptEvent(stored, `version ${version} is newer than this program`);
  if (version < 1) throw new CorruptEvent(stored, 'its metadata has no schema version');
  for (; version < definition.version; version += 1) {
    const upcast = definition.upcasters[version];
    if (!upcast) throw new CorruptEvent(stored, `no upcaster from version ${version}`);
    try {
      data = upcast(data);
    } catch {
      throw new CorruptEvent(stored, `its data is not that of version ${stored.metadata.schemaVersion}`);
    }
  }
  const parsed = definition.schema.safeParse(data);
  if (!parsed.success) throw new CorruptEvent(stored, describe(parsed.error));
  if (isForeign(catalogue, stored, parsed.data)) throw new CorruptEvent(stored, FOREIGN);
  return { ...stored, data: parsed.data } as Recorded<EventOf<C>>;
};

/** Whether a newer program may understand an event that this one does not: it lacks the type, or the version. */
export const mayBeNewer = ({ definitions }: EventCatalogue, { type, metadata }: StoredEvent): boolean =>
  !Object.hasOwn(definitions, type) || metadata.schemaVersion > definitions[type]!.version;

const FOREIGN = 'it is of another workspace';

/**
 * All events of a stream, and of a row, are of one workspace.
 * @param workspaceId of what the event is to change
 * @throws CorruptEvent
 */
export const requireWorkspace = (
  event: Pick<StoredEvent, 'stream' | 'revision' | 'type' | 'metadata'>,
  workspaceId: unknown,
): void => {
  const { workspaceId: own } = event.metadata;
  if (typeof workspaceId === 'string' && workspaceId !== '' && own !== '' && own !== workspaceId)
    throw new CorruptEvent(event, FOREIGN);
};

/** Whether an event belongs to another workspace than its stream, or than its own metadata says. */
const isForeign = (
  { streamsOf }: EventCatalogue,
  { stream, metadata }: StoredEvent,
  data: unknown,
): boolean => {
  const named = (data as { readonly workspaceId?: unknown }).workspaceId;
  const owner = streamsOf === 'workspaces' ? streamId(stream) : metadata.workspaceId;
  return [named, metadata.workspaceId || owner].some(
    (one) => typeof one === 'string' && owner !== '' && one !== owner,
  );
};

/** An event that readers show and do not interpret: it does not decode, or every reader passes over it. */
export interface OpaqueEvent {
  readonly opaque: true;
  readonly stored: StoredEvent;
  /** Why it does not decode; `null` when it would. Without values. */
  readonly problem: string | null;
  /** The decision to pass over it; `null` when there is none. */
  readonly setAside: SetAside | null;
}

/** Decodes an event for a reader that shows what it cannot read: reports, exports, histories. */
export const decodeOrShow = <C extends EventCatalogue>(
  catalogue: C,
  stored: StoredEvent,
): Recorded<EventOf<C>> | OpaqueEvent => {
  const opaque = (problem: string | null): OpaqueEvent => ({
    opaque: true,
    stored,
    problem,
    setAside: stored.setAside ?? null,
  });
  try {
    const event = decode(catalogue, stored);
    return isSetAside(stored) ? opaque(null) : event;
  } catch (error) {
    if (!(error instanceof CorruptEvent)) throw error;
    return opaque(error.reason);
  }
};

export const isOpaque = (event: object): event is OpaqueEvent => 'opaque' in event;

/** The catalogue of an event's category; `undefined` for a category or a selected type that the reader does not follow. */
const followedBy = (
  catalogues: readonly EventCatalogue[],
  { stream, type }: StoredEvent,
): EventCatalogue | undefined =>
  catalogues.find(
    ({ category, isSelection, definitions }) =>
      category === categoryOf(stream) && !(isSelection && !Object.hasOwn(definitions, type)),
  );

/** Whether `decodeAny` reads an event, or refuses it. */
export const isFollowed = (catalogues: readonly EventCatalogue[], stored: StoredEvent): boolean =>
  followedBy(catalogues, stored) !== undefined;

/**
 * Decodes with the catalogue of the event's category. Returns `null` for a category or a selected type that the reader
 * does not follow, and for an event that every reader passes over. For projections and processes, which read events of
 * several modules.
 * @throws CorruptEvent
 */
export const decodeAny = <const C extends readonly EventCatalogue[]>(
  catalogues: C,
  stored: StoredEvent,
): RecordedOf<C> | null => {
  const catalogue = followedBy(catalogues, stored);
  if (!catalogue || isSetAside(stored)) return null;
  return decode(catalogue, stored) as RecordedOf<C>;
};

/** Paths and codes only: an event may hold sealed or private data, so messages never contain values. */
const describe = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.code}`).join('; ');
