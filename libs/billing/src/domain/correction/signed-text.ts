import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { CorrectionEntry } from '../../contracts/corrections.js';

/** What both operators sign of one entry. */
export interface SignedFacts extends CorrectionEntry {
  readonly correctionId: string;
  readonly adjustmentId: string;
  readonly proposedBy: string;
}

/** The text that both operators sign: canonical JSON. The format keeps it apart from seals and months. */
export const signedText = (facts: SignedFacts): string => {
  const { workspaceId, correctionId, adjustmentId, proposedBy } = facts;
  const { amount, reason, reference, reversesEventId, grantId, expiresAt } = facts;
  return canonicalJson({
    format: 'credit-ledger-correction/1',
    ...{ workspaceId, correctionId, adjustmentId, proposedBy },
    ...{ amount, reason, reference, reversesEventId, grantId, expiresAt },
  });
};

/** The id under which a book knows an entry: the same for every attempt to book it. */
export const adjustmentIdOf = (correctionId: string, position: number): string =>
  uuid5(correctionId, String(position));

/** The texts of all entries of a proposal, in their order. */
export const textsToSign = ({
  correctionId,
  operator: proposedBy,
  entries,
}: {
  readonly correctionId: string;
  readonly operator: string;
  readonly entries: readonly CorrectionEntry[];
}): readonly string[] =>
  entries.map((entry, position) =>
    signedText({ ...entry, correctionId, proposedBy, adjustmentId: adjustmentIdOf(correctionId, position) }),
  );
