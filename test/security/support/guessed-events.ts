import { createHash } from 'node:crypto';
import { eventId } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';

/**
 * The data of an event if its personal parts were unkeyed digests of the right candidate's.
 * @param right the candidate's bytes by part
 * @param requestDigest of the candidate's request
 */
export const guessesOf = (
  { type, data }: StoredEvent,
  right: Readonly<Record<string, Buffer>>,
  requestDigest: Buffer,
): object[] => {
  const stored = data as Record<string, unknown>;
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  if (type === 'ReadingRequested') {
    const { sealedInput, idempotencyDigest, cost, reservationId, ...rest } = stored;
    const inputDigest = requestDigest.toString('hex');
    return [{ ...rest, sealedInput, inputDigest, idempotencyDigest, cost, reservationId }].map(
      ({ inputDigest: digest, ...one }) => ordered({ ...one, inputDigest: digest }, REQUESTED),
    );
  }
  if (type === 'ReadingCompleted')
    return [ordered({ ...stored, resultSha256: sha256(right['result']!) }, COMPLETED)];
  if (type !== 'DocumentPublished') return [];
  const formats = (stored['formats'] as { format: string; mediaType: string }[]).map(
    ({ format, mediaType }) => ({
      format,
      mediaType,
      sha256: sha256(right[format]!),
      bytes: right[format]!.length,
    }),
  );
  return [ordered({ ...stored, formats }, PUBLISHED)];
};

const REQUESTED = ['workspaceId', 'productId', 'profileId', 'locale', 'asOf', 'sealedInput', 'inputDigest', 'idempotencyDigest', 'cost', 'reservationId']; // prettier-ignore
const COMPLETED = ['workspaceId', 'attempt', 'reservationId', 'sealedResult', 'resultSha256'];
const PUBLISHED = ['workspaceId', 'version', 'artifactId', 'formats', 'publishedAt'];

const ordered = (data: Record<string, unknown>, names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, data[name]]));

/** The id of the event if it had these data, derived as the service does (docs/adr/0009), with the intents of its source. */
export const idOf = ({ type, stream, metadata }: StoredEvent, data: object): string => {
  const { attempt = 1 } = data as { attempt?: number };
  const intents: Record<string, string> = {
    ReadingRequested: `request:${metadata.correlationId}`,
    ReadingCompleted: `complete:${attempt}`,
    DocumentPublished: 'published:1',
  };
  return eventId(stream, `${intents[type]}|${metadata.occurredAt}|${JSON.stringify(data)}`, 0);
};
