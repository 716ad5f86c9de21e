import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { PublicEventType } from './event-types.js';

/** The id of the public event of this type that tells of a stored one (docs/adr/0009-ids-made-of-facts.md). */
export const publicEventId = (
  { stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>,
  type: PublicEventType,
): string => `evt_${uuid5(stream, String(revision), type)}`;
