import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import type { LedgerDifference } from '../../contracts/audit.js';
import type {
  AuditedCorrections,
  CompensatedEntry,
  CorrectionFinding,
} from '../../contracts/audited-corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import { differenceOf } from '../ledger-difference.js';
import { CorrectionsVerifier } from './verify-corrections.js';

/** What an audit of the ledger says of corrections: without root keys, only that it cannot judge them. */
export const auditedCorrections = (
  verifier: CorrectionsVerifier,
  rootKeys: readonly string[],
): { readonly findings: AuditedCorrections; readonly compensated: readonly CompensatedEntry[] } => {
  const { findings, compensated } = verifier.report();
  const first = findings.find(({ stream }) => categoryOf(stream) !== creditsEvents.category);
  if (rootKeys.length > 0 || !first) return { findings, compensated };
  const message = 'OPERATOR_ROOT_KEYS is not set here, so nobody knows which operators to trust';
  return { findings: [{ ...first, message: `${message}: ${findings.length} findings` }], compensated };
};

/** The same for the reports of reconciliations, from the events that concern corrections in log order. */
export const correctionDifferences = (
  events: Iterable<StoredEvent>,
  rootKeys: readonly string[],
): {
  readonly differences: readonly LedgerDifference[];
  readonly compensated: readonly CompensatedEntry[];
} => {
  const verifier = new CorrectionsVerifier(rootKeys);
  for (const event of events) verifier.see(event);
  const { findings, compensated } = auditedCorrections(verifier, rootKeys);
  return { differences: findings.map(asDifference), compensated };
};

const asDifference = ({ stream, revision, message }: CorrectionFinding): LedgerDifference => {
  const workspaceId = categoryOf(stream) === creditsEvents.category ? streamId(stream) : '';
  return differenceOf('correction', workspaceId, `${stream}@${revision}: ${message}`, {});
};
