import type { QueryBus } from '@nestjs/cqrs';
import { GetExternalId } from '#readings/contracts/index.js';
import { withExternalId } from '../domain/delivery/public-event.js';

/** A stored body. */
export interface StoredBody {
  /** `null` for a notice, which shows no external id. */
  readonly readingId: string | null;
  readonly body: string;
  /** Whether the external id of its reading belongs into the body. */
  readonly showsExternalId: boolean;
}

/**
 * The bytes that receivers get, as UTF-8 text. An external id is personal, so no body is stored with it: it comes from the
 * reading's sealed input, which never changes. Every attempt has the same bytes until the reading is erased; then the
 * external id is null. @throws StoreUnavailable when the reading or its key cannot be read now
 */
export const wholeBody = async (
  { readingId, body, showsExternalId }: StoredBody,
  queries: Pick<QueryBus, 'execute'>,
): Promise<string> =>
  showsExternalId && readingId !== null
    ? withExternalId(body, await queries.execute(new GetExternalId(readingId)))
    : body;
