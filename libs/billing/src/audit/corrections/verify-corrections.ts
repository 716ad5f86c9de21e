import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import { CorruptEvent, decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import {
  correctionEvents,
  type CorrectionEvent,
  type CorrectionFinding,
  type CorrectionsReport,
} from '../../contracts/corrections.js';
import { creditsEvents } from '../../contracts/events.js';
import { operatorsEvents, type OperatorsEvent } from '../../contracts/operators.js';
import { correction } from '../../domain/correction/correction.decider.js';
import { adjustmentIdOf, type CorrectionState } from '../../domain/correction/correction.state.js';
import { keyOf, noOperators } from '../../domain/operators/operators.state.js';
import { isSignedWith } from '../../signatures/signatures.js';
import { admitOperator } from './admit-operator.js';

/** An entry that two operators signed, as its book must have it. */
const CATEGORIES: ReadonlySet<string> = new Set([
  operatorsEvents.category,
  correctionEvents.category,
  creditsEvents.category,
]);

interface SignedEntry {
  readonly workspaceId: string;
  readonly correctionId: string;
  readonly facts: string;
}

/**
 * Checks, in the order of the log, that operators became trusted by the rules, that every signature fits and was given
 * while its key was trusted, and that each correction in a book is one that two operators signed. It believes no event:
 * each one is decided again.
 */
export class CorrectionsVerifier {
  private readonly findings: CorrectionFinding[] = [];
  private register = noOperators;
  private readonly corrections = new Map<string, CorrectionState | null>();
  /** By adjustment id; each may be booked once. */
  private readonly signed = new Map<string, SignedEntry>();
  private signedEntries = 0;
  private earlierEntries = 0;
  private quarantined = 0;

  constructor(private readonly rootKeys: readonly string[]) {}

  see(stored: StoredEvent): void {
    if (isSetAside(stored)) {
      if (CATEGORIES.has(categoryOf(stored.stream))) this.quarantined += 1;
      return;
    }
    try {
      switch (categoryOf(stored.stream)) {
        case operatorsEvents.category:
          return this.operator(decode(operatorsEvents, stored), stored);
        case correctionEvents.category:
          return this.correction(decode(correctionEvents, stored), stored);
        case creditsEvents.category:
          return stored.type === 'CreditsAdjusted' ? this.entry(stored) : undefined;
        default:
      }
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
      earlierEntries: this.earlierEntries,
      quarantined: this.quarantined,
      findings: this.findings,
    };
  }

  private operator(change: OperatorsEvent, stored: StoredEvent): void {
    const { register, refusal } = admitOperator(this.register, change, this.rootKeys);
    this.register = register;
    if (refusal !== null) this.find(stored, `this statement about an operator does not count: ${refusal}`);
  }

  private correction(event: CorrectionEvent, stored: StoredEvent): void {
    const id = streamId(stored.stream);
    const state = this.corrections.get(id) ?? null;
    this.corrections.set(id, state);
    if (event.data.correctionId !== id) return this.find(stored, 'the statement is of another correction');
    if (event.type !== 'CorrectionBooked') {
      const key = keyOf(this.register, event.data.signedBy.keySha256);
      if (!key || !isSignedWith(event, key.publicKey))
        return this.find(stored, 'the signature does not fit the statement');
    }
    // Limits are settings, and may have been others.
    const now = 'at' in event.data ? Date.parse(event.data.at) : Date.parse(stored.metadata.occurredAt);
    const { register } = this;
    const decision = correction.decide({ event, register, maxCredits: Infinity, now }, state);
    if (decision.kind !== 'accept')
      return this.find(stored, `the correction does not allow it: ${reasonOf(decision)}`);
    const after = correction.evolve(state, event);
    this.corrections.set(id, after);
    if (event.type === 'CorrectionApproved') this.expect(after!);
  }

  private expect({ proposed, proposal, approved }: CorrectionState): void {
    const approvedBy = approved!.signedBy.operator;
    for (const [position, entry] of proposed.entries.entries()) {
      const { workspaceId, notBefore: _, grantId: __, expiresAt, ...rest } = entry;
      const adjustmentId = adjustmentIdOf(proposal, position);
      const { correctionId, signedBy } = proposed;
      const actor = `operator:${signedBy.operator}`;
      const dates = expiresAt === null ? {} : { expiresAt };
      const facts = canonicalJson({ ...rest, ...dates, adjustmentId, approvedBy, actor, correctionId });
      this.signed.set(adjustmentId, { workspaceId, correctionId, facts });
    }
  }

  private entry(stored: StoredEvent): void {
    const { data } = decode(creditsEvents, stored) as { data: Record<string, unknown> };
    const { allocations: _, ...facts } = data as CreditsFacts;
    const expected = this.signed.get(facts.adjustmentId);
    if (!expected && facts.correctionId === undefined && this.register.keys.length === 0) {
      this.earlierEntries += 1;
      return;
    }
    if (!expected) return this.find(stored, 'no two operators signed this entry, or it is booked twice');
    this.signed.delete(facts.adjustmentId);
    if (expected.workspaceId !== streamId(stored.stream) || expected.facts !== canonicalJson(facts))
      return this.find(stored, `the entry is not the one that was signed in ${expected.correctionId}`);
    this.signedEntries += 1;
  }

  private find({ stream, revision }: StoredEvent, message: string): void {
    this.findings.push({ stream, revision, message });
  }
}

type CreditsFacts = Record<string, unknown> & {
  readonly adjustmentId: string;
  readonly correctionId?: string;
  readonly allocations: unknown;
};

const reasonOf = (decision: { kind: 'reject'; code: string } | { kind: 'ignore'; reason: string }): string =>
  decision.kind === 'reject' ? decision.code : decision.reason;
