import { PUBLIC_EVENT_TYPES } from '../../contracts/event-types.js';

/**
 * SQL: whether retention has deleted an event or a notice, or would have: it happened before the last one of its kind that
 * was deleted.
 * @param fact SQL: a row with workspace_id, livemode, type and occurred_at
 */
export const wasDeleted = (fact: string): string => `
  exists (
    select from webhooks.deleted_past past
    where past.workspace_id = ${fact}.workspace_id and past.livemode = ${fact}.livemode and past.type = ${fact}.type
      and past.until > ${fact}.occurred_at)`;

/** SQL: the highest position that retention has deleted from the feed of events of the fact's workspace. */
export const lastDeletedPosition = (fact: string): string => `
  (select max(position) from webhooks.deleted_past past
   where past.workspace_id = ${fact}.workspace_id
     and past.type in (${PUBLIC_EVENT_TYPES.map((type) => `'${type}'`).join()}))`;
