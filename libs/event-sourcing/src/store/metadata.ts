import type { EventMetadata } from '../core/event.js';

/** The metadata of an event, whoever wrote it. @param recordedAt by the store's own clock, ms since the epoch */
export const readMetadata = (metadata: unknown, recordedAt: number): EventMetadata =>
  isOurs(metadata) ? metadata : repaired(metadata, recordedAt);

const TEXTS = ['correlationId', 'causationId', 'workspaceId', 'actor', 'occurredAt'] as const;

const isOurs = (metadata: unknown): metadata is EventMetadata => {
  const { schemaVersion, occurredAt, ...known } = (metadata ?? {}) as Partial<EventMetadata>;
  return (
    typeof schemaVersion === 'number' &&
    typeof occurredAt === 'string' &&
    !Number.isNaN(Date.parse(occurredAt)) &&
    typeof known.correlationId === 'string' &&
    typeof known.causationId === 'string' &&
    typeof known.workspaceId === 'string' &&
    typeof known.actor === 'string'
  );
};

/**
 * Another program wrote the event: readers get all members of the metadata, empty where they are missing. Version 0
 * exists for no event, so it does not decode. The store's own time stands in for a missing one.
 */
const repaired = (metadata: unknown, recordedAt: number): EventMetadata => {
  const given: Record<string, unknown> =
    typeof metadata === 'object' && metadata !== null && !(metadata instanceof Uint8Array)
      ? { ...metadata }
      : {};
  for (const name of TEXTS) if (typeof given[name] !== 'string') given[name] = '';
  if (Number.isNaN(Date.parse(given['occurredAt'] as string)))
    given['occurredAt'] = new Date(recordedAt).toISOString();
  return { ...given, schemaVersion: 0 } as unknown as EventMetadata;
};
