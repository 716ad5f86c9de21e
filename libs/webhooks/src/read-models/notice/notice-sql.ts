import { NOTICE_PAUSE_MS } from '../../domain/notice/notice.js';

/**
 * SQL: whether a notice was told before: of this occurrence, or of this subject a short time ago.
 * @param fact SQL: a row with workspace_id, type, subject, occurrence and occurred_at
 */
export const wasTold = (fact: string): string => `
  exists (
    select from webhooks.notice told
    where told.workspace_id = ${fact}.workspace_id and told.type = ${fact}.type and told.subject = ${fact}.subject
      and (told.occurrence = ${fact}.occurrence
           or told.occurred_at > ${fact}.occurred_at - ${NOTICE_PAUSE_MS} * interval '1 millisecond'))`;
