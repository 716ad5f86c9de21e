import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import { CorruptEvent, decode, decodeOrShow, isOpaque } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import type { CorrectionFinding } from '../../contracts/audited-corrections.js';
import {
  correctionDayEvents,
  correctionEvents,
  type CorrectionEvent,
  type CorrectionsReport,
} from '../../contracts/corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import { operatorsEvents, type OperatorsEvent } from '../../contracts/operators.js';
import { adjustmentIdOf, type CorrectionState } from '../../domain/correction/correction.state.js';
import { CORRECTION_CATEGORIES } from '../../contracts/judged-statements.js';
import { noOperators } from '../../domain/operators/operators.state.js';
import { admitCorrection } from './admit-correction.js';
import { admitOperator } from './admit-operator.js';
import { JudgedDocumentRefunds, isCauseOfRefunds, isDocumentRefund } from './document-refunds.js';
import { statementReader } from './statement-reader.js';
import { UnsignedEntries } from './unsigned-entries.js';

const SIGNED: ReadonlySet<string> = new Set(CORRECTION_CATEGORIES);
const IDLE_QUARANTINE = 'it counts, so its quarantine has no effect: somebody may have tried to hide it';

/** Whether a {@link CorrectionsVerifier} looks at this event. */
export const concernsCorrections = (stored: StoredEvent): boolean => {
  const category = categoryOf(stored.stream);
  if (category === creditsEvents.category) return stored.type === 'CreditsAdjusted' || isSetAside(stored);
  return SIGNED.has(category);
};

/** An entry that two operators signed, as its book must have it. */
interface SignedEntry {
  readonly workspaceId: string;
  readonly correctionId: string;
  /** The grant whose credits it takes back; `null`: those that the book chooses. */
  readonly grantId: string | null;
  readonly facts: string;
}

/**
 * Checks, in the order of the log, that operators became trusted by the rules, that every signature fits and was given
 * while its key was trusted, and that each correction in a book is one that two operators signed. It believes no event:
 * each one is decided again. Entries that no operator signs must follow from their causes (`withCauses`).
 */
export class CorrectionsVerifier {
  private readonly findings: CorrectionFinding[] = [];
  private readonly unsigned = new UnsignedEntries();
  private register = noOperators;
  private readonly corrections = new Map<string, CorrectionState | null>();
  /** By adjustment id; each may be booked once. */
  private readonly signed = new Map<string, SignedEntry>();
  /** Adjustment ids of the entries in the books so far. */
  private readonly booked = new Set<unknown>();
  private readonly readOperators = statementReader(operatorsEvents);
  private readonly readCorrections = statementReader(
    correctionEvents,
    ({ correctionId }, { stream }) => correctionId === streamId(stream),
  );
  private readonly refunds = new JudgedDocumentRefunds();
  private signedEntries = 0;
  private documentRefunds = 0;
  private earlierEntries = 0;
  private quarantined = 0;

  constructor(private readonly rootKeys: readonly string[]) {}

  see(stored: StoredEvent): void {
    const category = categoryOf(stored.stream);
    if (category === creditsEvents.category && stored.type === 'CreditsAdjusted')
      this.booked.add((stored.data as { adjustmentId?: unknown } | null)?.adjustmentId);
    try {
      if (isCauseOfRefunds(stored)) this.refunds.see(stored);
      else if (SIGNED.has(category)) this.statement(category, stored);
      else if (category !== creditsEvents.category) return;
      else if (isSetAside(stored)) this.quarantined += 1;
      else if (stored.type === 'CreditsAdjusted') this.entry(stored);
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error;
      this.find(stored, error.message);
    }
  }

  report(): CorrectionsReport {
    return {
      operators: this.register.keys.length,
      corrections: this.corrections.size,
      signedEntries: this.signedEntries,
      documentRefunds: this.documentRefunds,
      earlierEntries: this.earlierEntries,
      quarantined: this.quarantined,
      ...this.unsigned.divide(this.findings),
    };
  }

  /** A quarantine accepts that a statement does not count. It changes nothing for one that does. */
  private statement(category: string, stored: StoredEvent): void {
    const refusal = this.refusalOf(category, stored);
    if (!isSetAside(stored)) return refusal === null ? undefined : void this.find(stored, refusal);
    if (refusal === null) this.find(stored, IDLE_QUARANTINE);
    else this.quarantined += 1;
  }

  /** Why a statement does not count; `null`: it does. @throws CorruptEvent */
  private refusalOf(category: string, stored: StoredEvent): string | null {
    if (category === correctionDayEvents.category) {
      const count = decodeOrShow(correctionDayEvents, stored);
      return isOpaque(count) && count.problem !== null
        ? new CorruptEvent(stored, count.problem).message
        : null;
    }
    const isOperators = category === operatorsEvents.category;
    const event = (isOperators ? this.readOperators : this.readCorrections)(stored, this.register);
    if (typeof event === 'string') return new CorruptEvent(stored, event).message;
    return isOperators
      ? this.operator(event as OperatorsEvent)
      : this.correction(event as CorrectionEvent, stored);
  }

  private operator(change: OperatorsEvent): string | null {
    const { register, refusal } = admitOperator(this.register, change, this.rootKeys);
    this.register = register;
    return refusal === null ? null : `this statement about an operator does not count: ${refusal}`;
  }

  private correction(event: CorrectionEvent, stored: StoredEvent): string | null {
    const id = streamId(stored.stream);
    const before = this.corrections.get(id) ?? null;
    const { occurredAt } = stored.metadata;
    const { state, refusal } = admitCorrection(id, before, event, this.register, occurredAt);
    this.corrections.set(id, state);
    if (refusal !== null) return refusal;
    if (event.type === 'CorrectionApproved') this.expect(state!);
    if (event.type !== 'CorrectionBooked') return null;
    const { proposal, positions } = event.data;
    const missing = positions.filter((position) => !this.booked.has(adjustmentIdOf(proposal, position)));
    return missing.length > 0 ? `no book had these entries: ${missing.join(', ')}` : null;
  }

  private expect({ proposed, proposal, approved }: CorrectionState): void {
    const approvedBy = approved!.signedBy.operator;
    for (const [position, entry] of proposed.entries.entries()) {
      const { workspaceId, notBefore: _, grantId, expiresAt, ...rest } = entry;
      const adjustmentId = adjustmentIdOf(proposal, position);
      const { correctionId, signedBy } = proposed;
      const actor = `operator:${signedBy.operator}`;
      const dates = expiresAt === null ? {} : { expiresAt };
      const facts = canonicalJson({ ...rest, ...dates, adjustmentId, approvedBy, actor, correctionId });
      this.signed.set(adjustmentId, { workspaceId, correctionId, grantId, facts });
    }
  }

  private entry(stored: StoredEvent): void {
    const { data } = decode(creditsEvents, stored) as { data: Record<string, unknown> };
    // Nobody signs what the book works out from its own entries. `BookVerifier` checks that it follows from them.
    const { allocations, restores: _, counts: __, ...facts } = data as CreditsFacts;
    const expected = this.signed.get(facts.adjustmentId);
    const isRefund = !expected && isDocumentRefund(stored);
    const fault = isRefund
      ? this.refunds.faultOf(stored, facts)
      : faultOf(stored, facts, allocations, expected);
    this.refunds.reversed(stored, facts.reversesEventId, facts.amount);
    if (!expected && !isRefund && facts.correctionId === undefined && this.register.keys.length === 0) {
      this.earlierEntries += 1;
      return;
    }
    this.signed.delete(facts.adjustmentId);
    if (fault !== null) return this.unsigned.addUnsigned(stored, facts, this.find(stored, fault));
    if (isRefund) {
      this.documentRefunds += 1;
      return;
    }
    this.unsigned.addSigned(stored, facts);
    this.signedEntries += 1;
  }

  private find({ stream, revision }: StoredEvent, message: string): CorrectionFinding {
    const finding = { stream, revision, message };
    this.findings.push(finding);
    return finding;
  }
}

type CreditsFacts = Record<string, unknown> & {
  readonly adjustmentId: string;
  readonly amount: number;
  readonly reversesEventId: string | null;
  readonly correctionId?: string;
  readonly allocations: readonly { readonly grantId: string; readonly amount: number }[];
  readonly restores?: unknown;
  readonly counts?: unknown;
};

/** Why an entry is none that two operators signed; `null`: it is. */
const faultOf = (
  { stream }: StoredEvent,
  facts: Omit<CreditsFacts, 'allocations' | 'restores' | 'counts'>,
  allocations: CreditsFacts['allocations'],
  expected: SignedEntry | undefined,
): string | null => {
  if (!expected) return 'no two operators signed this entry, or it is booked twice';
  const { workspaceId, correctionId, grantId } = expected;
  const isSame = workspaceId === streamId(stream) && expected.facts === canonicalJson(facts);
  if (!isSame) return `the entry is not the one that was signed in ${correctionId}`;
  const isOther = (one: (typeof allocations)[number]): boolean => one.amount < 0 && one.grantId !== grantId;
  return grantId !== null && allocations.some(isOther)
    ? `the entry takes credits of another grant than ${grantId}, which was signed in ${correctionId}`
    : null;
};
