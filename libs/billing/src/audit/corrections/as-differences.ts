import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import type { LedgerDifference } from '../../contracts/audit.js';
import type { AuditedCorrections, CompensatedEntry } from '../../contracts/audited-corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import { CorrectionsVerifier } from './verify-corrections.js';

/** What an audit of the ledger says of corrections, from the events that concern them in log order. */
export const auditCorrections = (
  events: Iterable<StoredEvent>,
  rootKeys: readonly string[],
): {
  readonly differences: readonly LedgerDifference[];
  readonly compensated: readonly CompensatedEntry[];
} => {
  const verifier = new CorrectionsVerifier(rootKeys);
  for (const event of events) verifier.see(event);
  const { compensated } = verifier.report();
  return { differences: correctionDifferences(auditedCorrections(verifier, rootKeys)), compensated };
};

/** What an audit of the ledger says of corrections: without root keys, only that it cannot judge them. */
export const auditedCorrections = (
  verifier: CorrectionsVerifier,
  rootKeys: readonly string[],
): AuditedCorrections => {
  const { findings } = verifier.report();
  const first = findings.find(({ stream }) => categoryOf(stream) !== creditsEvents.category);
  if (rootKeys.length > 0 || !first) return findings;
  const message = 'OPERATOR_ROOT_KEYS is not set here, so nobody knows which operators to trust';
  return [{ ...first, message: `${message}: ${findings.length} findings` }];
};

/** The same, for the reports of reconciliations. */
const correctionDifferences = (found: AuditedCorrections): readonly LedgerDifference[] =>
  found.map(({ stream, revision, message }) => ({
    kind: 'correction',
    workspaceId: categoryOf(stream) === creditsEvents.category ? streamId(stream) : '',
    readingId: null,
    creditsEventId: null,
    readingEventId: null,
    message: `${stream}@${revision}: ${message}`,
  }));
