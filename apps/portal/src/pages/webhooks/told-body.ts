import { GetExternalId } from '#readings/contracts/index.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import type { ToldEvent } from '#webhooks/contracts/index.js';
import type { Visit } from '../../frame/page.js';

/** Whether the session sees `null` in place of the external id. */
export const hidesId = ({ showsExternalId, readingId }: ToldEvent, { may }: Visit): boolean =>
  showsExternalId && readingId !== null && !may(PERSONS_SCOPE);

/**
 * The body that deliveries of an event carry. Its external id is personal: without the scope for persons, it is `null`
 * here, as after an erasure.
 */
export const toldBody = async (
  { body, readingId, showsExternalId }: ToldEvent,
  { queries, may }: Visit,
): Promise<string> => {
  if (!showsExternalId || readingId === null) return body;
  const externalId = may(PERSONS_SCOPE) ? await queries.execute(new GetExternalId(readingId)) : null;
  return `${body.slice(0, -1)},"externalId":${JSON.stringify(externalId)}}`;
};
