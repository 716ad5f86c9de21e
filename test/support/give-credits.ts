import { CreditBooks } from '@app/billing/application/credit-books.js';
import { createCreditsExecutor } from '@app/billing/credits.executor.js';
import { openEventStore } from '@app/event-sourcing/store/eventstoredb.js';
import { CLIENT_UNDER_TEST } from '@app/event-sourcing/store/testing/client-under-test.js';
import { adjustment } from '../../libs/billing/test/adjustment.js';

export interface Gift {
  readonly eventStoreUrl: string;
  readonly workspaceId: string;
  readonly amount: number;
  readonly reason?: string;
}

/**
 * Gives a workspace credits that nobody paid for. Through the service's commands, two operators would have to sign; this
 * writes to the event store, as only its login can. Specs ask the companion for it.
 */
export const giveCredits = async ({
  eventStoreUrl,
  workspaceId,
  amount,
  reason = 'test',
}: Gift): Promise<void> => {
  const now = Date.now();
  const store = await openEventStore({
    client: CLIENT_UNDER_TEST,
    connectionString: eventStoreUrl,
    appendTimeoutMs: 10_000,
    readTimeoutMs: 10_000,
  });
  try {
    const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => now });
    const by = { actor: 'operator:test', correlationId: 'test', causationId: 'test' };
    const entry = { amount, reason, approvedBy: 'test', actor: by.actor };
    const adjustmentId = `test-${now}-${amount}`;
    const outcome = await books.execute(
      workspaceId,
      (at) => ({ ...adjustment({ ...entry, adjustmentId }), now: at }),
      adjustmentId,
      by,
    );
    if (outcome.kind !== 'accepted') throw new Error(`No credits were given: ${outcome.kind}`);
  } finally {
    await store.close();
  }
};
