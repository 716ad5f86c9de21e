import { InvalidArgumentError } from 'commander';
import {
  CorruptEvent,
  decodeOrShow,
  isOpaque,
  mayBeNewer,
  requireWorkspace,
} from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { Place } from '#event-sourcing/parking/parked-streams.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { catalogueOf } from '../../catalogues.js';
import { OpsError } from '../../ops-error.js';

/** Parses `<stream>@<revision>`. */
export function parsePlace(text: string): Place {
  const found = /^(.+)@(\d{1,18})$/.exec(text);
  if (!found) throw new InvalidArgumentError('must be <stream>@<revision>, such as reading-7f9c…@3');
  return { stream: found[1]!, revision: BigInt(found[2]!) };
}

/** @throws OpsError when there is no such event */
export const requireEvent = async (store: EventStore, { stream, revision }: Place): Promise<StoredEvent> => {
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    if (event.revision === revision) return event;
  throw new OpsError(`There is no event ${stream}@${revision}: ops streams show ${stream} shows them.`);
};

/** The workspace of a stream: that of its first event that can be read. Empty when there is none. */
export const ownerOf = async (store: Pick<EventStore, 'read'>, stream: string): Promise<string> => {
  const catalogue = catalogueOf(stream);
  for await (const event of catalogue ? store.read(stream) : [])
    if (!isOpaque(decodeOrShow(catalogue!, event))) return event.metadata.workspaceId;
  return '';
};

/**
 * Why an event cannot be read; `null` when it can.
 * @param owner the workspace of its stream
 * @throws OpsError for a stream that the service does not read
 */
export const problemOf = (event: StoredEvent, owner: string): string | null => {
  const catalogue = catalogueOf(event.stream);
  if (!catalogue) throw new OpsError(`The service does not read ${event.stream}.`);
  const decoded = decodeOrShow(catalogue, event);
  if (isOpaque(decoded) && decoded.problem !== null) return decoded.problem;
  try {
    requireWorkspace(event, owner);
    return null;
  } catch (error) {
    if (!(error instanceof CorruptEvent)) throw error;
    return error.reason;
  }
};

/** Whether a newer version of the program may understand an event. */
export const mayBeNewerThanThis = (event: StoredEvent): boolean => {
  const catalogue = catalogueOf(event.stream);
  return catalogue !== null && mayBeNewer(catalogue, event);
};

/** The command that shows what setting an event aside would do. */
export const wayAround = (place: string): string => `ops parked set-aside ${place} --reason "…"`;
