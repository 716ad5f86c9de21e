import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { CorruptEvent, decode, type EventCatalogue } from '#event-sourcing/core/event-catalogue.js';

/** One version of an event type, as it was first written. */
export interface Locked {
  /** Lowercase hex SHA-256 of its golden file. */
  readonly golden: string;
  /** JSON Schema of its data. */
  readonly schema: unknown;
}

/** Keyed by `<Type>.v<n>`. Append-only: events of every locked version may be stored somewhere. */
export type SchemaLock = Readonly<Record<string, Locked>>;

/** Name of a golden file without its extension, and key in the lock. */
export const versionName = (type: string, version: number): string => `${type}.v${version}`;

export const jsonSchemaOf = (schema: z.ZodType): unknown => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return described;
};

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** All event types of the catalogues, with their current version and schema. */
export const todaysVersions = (catalogues: readonly EventCatalogue[]) =>
  catalogues.flatMap((catalogue) =>
    Object.entries(catalogue.definitions).map(([type, definition]) => ({
      name: versionName(type, definition.version),
      type,
      catalogue,
      ...definition,
    })),
  );

const WRITE = 'run "npm run events:lock" and commit what it writes';

/** Schema changes without a new version, as sentences that say what to do. */
export const breaches = (catalogues: readonly EventCatalogue[], lock: SchemaLock): string[] => {
  const today = todaysVersions(catalogues);
  const byName = new Map(today.map((one) => [one.name, one]));
  const found = today.flatMap(({ name, type, version, schema, upcasters, catalogue }) => {
    const locked = lock[name];
    const gaps = Array.from({ length: version - 1 }, (_, index) => index + 1).filter(
      (from) => !upcasters[from],
    );
    return [
      ...gaps.map(
        (from) =>
          `${type} has no upcaster from version ${from}: add one to its entry in the catalogue of ${catalogue.category}, since stored events of that version must always be readable.`,
      ),
      ...(locked ? [] : [`${name} is new: write test/golden/events/${name}.json, ${WRITE}.`]),
      ...(locked && canonicalJson(locked.schema) !== canonicalJson(jsonSchemaOf(schema))
        ? [
            `The schema of ${name} changed, but events of that version are stored: revert the change, or make it version ${version + 1} with an upcaster from ${version} in the catalogue of ${catalogue.category}, write its golden file, and ${WRITE}.`,
          ]
        : []),
    ];
  });
  const gone = Object.keys(lock).flatMap((name) => {
    const [type, version] = name.split('.v') as [string, string];
    const current = today.find((one) => one.type === type);
    if (!current) return [`${type} is in no catalogue any more, but is stored: restore its definition.`];
    if (Number(version) > current.version && !byName.has(name)) {
      return [`${name} is locked, but today's version is ${current.version}: versions never go back.`];
    }
    return [];
  });
  return [...found, ...gone];
};

/** A golden file: an event of one version, as stored. */
export interface Golden {
  readonly type: string;
  readonly version: number;
  readonly data: unknown;
}

/** Decodes a golden event as the service does. @throws CorruptEvent */
export const decodeGolden = (catalogues: readonly EventCatalogue[], { type, version, data }: Golden) => {
  const catalogue = catalogues.find(({ definitions }) => type in definitions);
  // Streams of credits and workspaces have the ids of their workspace.
  const { workspaceId = 'golden' } = data as { readonly workspaceId?: string };
  const stored = {
    id: '00000000-0000-0000-0000-000000000000',
    stream: `${catalogue?.category ?? 'unknown'}-${workspaceId}`,
    revision: 0n,
    position: 0n,
    type,
    data,
    metadata: {
      correlationId: 'req_golden',
      causationId: 'req_golden',
      workspaceId: '',
      actor: 'system:golden',
      occurredAt: '2026-09-29T08:00:00.000Z',
      schemaVersion: version,
    },
  };
  if (!catalogue) throw new CorruptEvent(stored, 'its type is in no catalogue');
  return decode(catalogue, stored);
};
