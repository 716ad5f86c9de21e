import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreditBooks } from '#billing/application/credit-books.js';
import type { CorrectionData } from '#billing/contracts/corrections.js';
import { createCorrectionExecutors, createCreditsExecutor } from '#billing/executors.js';
import { publicKeyOf } from '#billing/offline.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { adjustment } from '../../libs/billing/test/adjustment.js';
import { signedCommand, type Person } from '../../libs/billing/test/operators.js';

export interface Gift {
  readonly eventStoreUrl: string;
  readonly workspaceId: string;
  readonly amount: number;
  readonly reason?: string;
  /** The data folder whose two operators sign the entry. Without it, nobody signs. */
  readonly dataDir?: string;
}

/**
 * Gives a workspace credits that nobody paid for, which is faster than the commands of two operators. Specs ask the
 * companion for it.
 */
export const giveCredits = async ({
  eventStoreUrl,
  workspaceId,
  amount,
  reason = 'test',
  dataDir,
}: Gift): Promise<void> => {
  const now = Date.now();
  const store = await openEventStore({
    connectionString: eventStoreUrl,
    appendTimeoutMs: 10_000,
    readTimeoutMs: 10_000,
  });
  try {
    const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => now });
    const by = { actor: 'operator:ada', correlationId: 'test', causationId: 'test' };
    const entry = { amount, reason, approvedBy: 'grace', actor: by.actor, reference: 'test' };
    const adjustmentId = `test-${now}-${amount}`;
    const asked = adjustment({ ...entry, adjustmentId });
    const command = dataDir ? signedCommand(workspaceId, asked, operatorsOf(dataDir)) : asked;
    if (dataDir) await propose(store, workspaceId, command);
    const outcome = await books.execute(workspaceId, (at) => ({ ...command, now: at }), adjustmentId, by);
    if (outcome.kind !== 'accepted') throw new Error(`No credits were given: ${outcome.kind}`);
  } finally {
    await store.close();
  }
};

type Asked = ReturnType<typeof adjustment>;

/** All gifts are of one correction, whose proposal has not expired: audits look for one. */
const propose = async (store: EventStore, workspaceId: string, { correctionId, entries }: Asked) => {
  const [{ adjustmentId: _, signed, ...entry }] = entries as readonly [Asked['entries'][number]];
  const data: CorrectionData<'CorrectionProposed'> = {
    ...{ correctionId, kind: 'adjustment' as const, reason: entry.reason, reference: entry.reference },
    ...{ entries: [{ workspaceId, ...entry }], expiresAt: '9999-12-31T00:00:00.000Z' },
    ...{ operator: 'ada', signatures: [signed!.proposer] },
  };
  const command = { event: { type: 'CorrectionProposed', data }, now: 0 } as const;
  const by = { actor: 'operator:ada', correlationId: 'test', causationId: 'test' };
  const context = { intent: 'gifts', by, workspaceId: '', at: Date.now() };
  await createCorrectionExecutors(store).correction.execute(correctionId, command, context);
};

const operatorsOf = (dataDir: string): readonly Person[] => {
  const secrets = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as {
    readonly OPERATOR_KEYS: Readonly<Record<string, string>>;
  };
  return Object.entries(secrets.OPERATOR_KEYS).map(([name, pem]) => {
    const privateKey = createPrivateKey(pem);
    return { name, privateKey, publicKey: publicKeyOf(privateKey) };
  });
};
