import { printable } from '#platform/text/printable.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { shownActor } from '../../shown-event.js';

/** Which events an operator wants to see; an absent member matches every event. */
export interface Choice {
  readonly category?: string;
  readonly type?: string;
  readonly workspace?: string;
  readonly actor?: string;
  readonly correlation?: string;
  readonly id?: string;
}

export const isChosen = (
  { category, type, workspace, actor, correlation, id }: Choice,
  event: StoredEvent,
): boolean =>
  [
    [category, categoryOf(event.stream)],
    [type, event.type],
    [workspace, event.metadata.workspaceId],
    [actor, event.metadata.actor],
    [correlation, event.metadata.correlationId],
    [id, event.id],
  ].every(([wanted, given]) => wanted === undefined || wanted === given);

/** An event in one line. */
export const line = (event: StoredEvent): string => {
  const { position, stream, revision, type, metadata } = event;
  return `${position}  ${metadata.occurredAt}  ${stream}@${revision}  ${type}  by ${printable(shownActor(event))}`;
};
