import { CorruptEvent, decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId, streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import type { LedgerDifference } from '../../contracts/audit.js';
import type { CompensatedEntry, CorrectionFinding } from '../../contracts/corrections.js';
import { creditsEvents, type CreditsEventOf } from '../../contracts/events.js';
import { signedText } from '../../domain/correction/signed-text.js';
import type { Operator } from '../../settings.js';
import { signatureFault } from '../../signatures.js';
import { differenceOf } from '../ledger-difference.js';
import { JudgedDocumentRefunds, isCauseOfRefunds, isDocumentRefund } from './document-refunds.js';

type Adjusted = CreditsEventOf<'CreditsAdjusted'>['data'];

/** What an audit of the ledger says of corrections, in the order of the log. */
export interface CorrectionsReport {
  readonly findings: readonly CorrectionFinding[];
  readonly compensated: readonly CompensatedEntry[];
}

/** Whether {@link verifyCorrections} looks at this event. */
export const isCorrection = ({ type, stream }: StoredEvent): boolean =>
  type === 'CreditsAdjusted' && categoryOf(stream) === creditsEvents.category;

/**
 * Checks that two operators signed each correction in a book. An entry that no operator signs must follow from a document
 * that failed: this reads its causes.
 * @param entries `CreditsAdjusted` of whole books, in the order of the log
 * @param operators OPERATORS; those that are retired count too
 */
export const verifyCorrections = async (
  store: Pick<EventStore, 'read'>,
  entries: readonly StoredEvent[],
  operators: readonly Operator[],
): Promise<CorrectionsReport> => {
  const verifier = new CorrectionsVerifier(operators);
  const causes = await causesOf(store, entries);
  for (const event of causes.length > 0 ? inLogOrder([...causes, ...entries]) : entries) verifier.see(event);
  const { findings, compensated } = verifier.report();
  const [first] = findings;
  if (operators.length > 0 || !first) return { findings, compensated };
  const message = `OPERATORS is not set here, so nobody knows whose signatures count: ${findings.length} findings`;
  return { findings: [{ ...first, message }], compensated };
};

/** The same findings, for the reports of reconciliations. */
export const correctionDifferences = ({ findings }: CorrectionsReport): readonly LedgerDifference[] =>
  findings.map(({ stream, revision, message }) =>
    differenceOf('correction', streamId(stream), `${stream}@${revision}: ${message}`, {}),
  );

/** What refunds of documents follow from: captures of their books, and publications of their readings. */
const causesOf = async (
  store: Pick<EventStore, 'read'>,
  entries: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> => {
  const named = new Set<unknown>();
  const streams = new Set<string>();
  for (const { stream, data } of entries.filter(isDocumentRefund)) {
    const { reversesEventId, reference } = data as Record<string, unknown>;
    named.add(reversesEventId);
    streams.add(stream);
    if (typeof reference === 'string' && reference !== '')
      streams.add(streamName(publicationEvents.category, reference));
  }
  const causes: StoredEvent[] = [];
  for (const stream of streams)
    for await (const event of store.read(stream))
      if (isCauseOfRefunds(event) && (event.type !== 'CreditsCaptured' || named.has(event.id)))
        causes.push(event);
  return causes;
};

/** Servers that give no positions with a stream give the time of the record. What stands first in the list stays first. */
const inLogOrder = (events: readonly StoredEvent[]): readonly StoredEvent[] => {
  const isPlaced = events.every(({ position }) => position > 0n && position < 2n ** 63n);
  return events.toSorted((one, other) =>
    isPlaced ? Number(one.position - other.position) : (one.recordedAt ?? 0) - (other.recordedAt ?? 0),
  );
};

/** An entry that nobody signed, and all entries that reverse it, each other's reversals among them. */
interface Group {
  /** Credits since the first open entry. */
  sum: number;
  /** Entries that no signed correction has compensated. */
  open: CorrectionFinding[];
}

class CorrectionsVerifier {
  private readonly findings: CorrectionFinding[] = [];
  private readonly refunds = new JudgedDocumentRefunds();
  /** By stream and adjustment: each may be booked once. */
  private readonly booked = new Set<string>();
  /** By stream and event id of each entry of the group. */
  private readonly groups = new Map<string, Group>();
  private readonly compensated = new Map<CorrectionFinding, string>();

  constructor(private readonly operators: readonly Operator[]) {}

  see(stored: StoredEvent): void {
    if (isSetAside(stored)) return;
    try {
      if (isCauseOfRefunds(stored)) this.refunds.see(stored);
      else this.entry(stored, decode(creditsEvents, stored).data as Adjusted);
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error;
      this.find(stored, error.message);
    }
  }

  /** Divides what was found into what remains, and what is compensated. Both keep their order. */
  report(): CorrectionsReport {
    return {
      findings: this.findings.filter((finding) => !this.compensated.has(finding)),
      compensated: this.findings.flatMap((finding) => {
        const compensatedBy = this.compensated.get(finding);
        return compensatedBy === undefined ? [] : [{ ...finding, compensatedBy }];
      }),
    };
  }

  private entry(stored: StoredEvent, data: Adjusted): void {
    const isRefund = isDocumentRefund(stored);
    // What the book works out from its own entries, `BookVerifier` checks.
    const { allocations: _, restores: __, counts: ___, ...facts } = data;
    const fault = isRefund ? this.refunds.faultOf(stored, facts) : this.faultOf(stored, data);
    this.refunds.reversed(stored, data.reversesEventId, data.amount);
    if (isRefund && fault === null) return;
    const group = this.groupOf(stored, data, fault !== null);
    if (fault !== null) group?.open.push(this.find(stored, fault));
    if (!group || group.open.length === 0) return;
    group.sum += data.amount;
    if (fault !== null || group.sum !== 0) return;
    for (const finding of group.open) this.compensated.set(finding, data.correctionId!);
    group.open = [];
  }

  private faultOf({ stream }: StoredEvent, data: Adjusted): string | null {
    const key = `${stream} ${data.adjustmentId}`;
    const isTwice = this.booked.has(key);
    this.booked.add(key);
    return isTwice ? 'the entry is booked twice' : faultOfEntry(streamId(stream), data, this.operators);
  }

  /** The group of the entry or of the one that it reverses. A forger may repeat an id. */
  private groupOf({ stream, id }: StoredEvent, data: Adjusted, isFaulty: boolean): Group | undefined {
    const key = `${stream} ${id}`;
    const known = this.groups.get(key) ?? this.groups.get(`${stream} ${data.reversesEventId}`);
    const group = known ?? (isFaulty ? { sum: 0, open: [] } : undefined);
    if (group) this.groups.set(key, group);
    return group;
  }

  private find({ stream, revision }: StoredEvent, message: string): CorrectionFinding {
    const finding = { stream, revision, message };
    this.findings.push(finding);
    return finding;
  }
}

/** Why an entry is none that two operators signed; `null`: it is. */
const faultOfEntry = (workspaceId: string, data: Adjusted, operators: readonly Operator[]): string | null => {
  const { signed, correctionId, actor, approvedBy, allocations, expiresAt = null } = data;
  if (!signed || correctionId === undefined || !actor?.startsWith('operator:'))
    return 'no two operators signed this entry';
  const proposedBy = actor.slice('operator:'.length);
  if (proposedBy === approvedBy) return `${approvedBy} proposed and approved this entry alone`;
  const { grantId, proposer, approver } = signed;
  const text = signedText({
    ...data,
    ...{ workspaceId, correctionId, proposedBy, grantId, expiresAt },
    reference: data.reference ?? '',
  });
  for (const [name, signature] of [
    [proposedBy, proposer],
    [approvedBy, approver],
  ] as const) {
    const fault = signatureFault(operators, name, [{ text, signature }], ['active', 'retired']);
    if (fault === 'NotOperator') return `${name}, who is to have signed this entry, is no operator`;
    if (fault) return `the signature of ${name} does not fit this entry`;
  }
  const isOther = (one: (typeof allocations)[number]): boolean => one.amount < 0 && one.grantId !== grantId;
  return grantId !== null && allocations.some(isOther)
    ? `the entry takes credits of another grant than ${grantId}, which was signed`
    : null;
};
