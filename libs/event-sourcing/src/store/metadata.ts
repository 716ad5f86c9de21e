import type { EventMetadata } from '../core/event.js';

/** The metadata of an event, whoever wrote it. @param recordedAt by the store's own clock, ms since the epoch */
export const readMetadata = (metadata: unknown, recordedAt: number): EventMetadata =>
  isOurs(metadata) ? metadata : repaired(metadata, recordedAt);

/** The one form that `instant` writes: readers compare dates as texts. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const isInstant = (text: unknown): text is string =>
  typeof text === 'string' && INSTANT.test(text) && !Number.isNaN(Date.parse(text));

const TEXTS = ['correlationId', 'causationId', 'workspaceId', 'actor', 'occurredAt'] as const;

const isOurs = (metadata: unknown): metadata is EventMetadata => {
  const { schemaVersion, occurredAt, ...known } = (metadata ?? {}) as Partial<EventMetadata>;
  return (
    typeof schemaVersion === 'number' &&
    isInstant(occurredAt) &&
    typeof known.correlationId === 'string' &&
    typeof known.causationId === 'string' &&
    typeof known.workspaceId === 'string' &&
    typeof known.actor === 'string'
  );
};

/**
 * Another program wrote the event: readers get all members of the metadata, empty where they are missing. Version 0
 * exists for no event, so it does not decode. The store's own time stands in for a date that is missing or of another form.
 */
const repaired = (metadata: unknown, recordedAt: number): EventMetadata => {
  const given: Record<string, unknown> =
    typeof metadata === 'object' && metadata !== null && !(metadata instanceof Uint8Array)
      ? { ...metadata }
      : {};
  for (const name of TEXTS) if (typeof given[name] !== 'string') given[name] = '';
  if (!isInstant(given['occurredAt'])) given['occurredAt'] = new Date(recordedAt).toISOString();
  return { ...given, schemaVersion: 0 } as unknown as EventMetadata;
};
