import { describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { CorrectionOffice } from '../../test/correction-office.js';
import { ada, eve, grace, OPERATORS } from '../../test/operators.js';
import type { CorrectionEvent } from '../contracts/corrections.js';
import { refuseSignatures } from '../signatures.js';
import { correction } from './correction.js';
import { parseOperators } from '../settings.js';

const office = new CorrectionOffice();
const NOW = office.now;
const LATER = NOW + 86_400_000;
const proposed = (amount = 20, who = ada) => office.proposedAs('c1', [{ amount }, { amount: 1 }], who);
const approved = (who = grace, of = proposed()) => office.approved(of, who);
const rejected = (): CorrectionEvent => ({
  type: 'CorrectionRejected',
  data: { correctionId: 'c1', reason: 'wrong' },
});
const record = (event: CorrectionEvent, now = NOW) => ({ event, now });
const correctionWith = (...events: readonly CorrectionEvent[]) => given(correction, events);

describe('a proposal', () => {
  it('is recorded once, and keeps its reference', () => {
    correctionWith().when(record(proposed())).then(proposed());
    correctionWith(proposed()).when(record(proposed())).thenIgnores('AlreadyProposed');
    correctionWith(proposed(), approved()).when(record(proposed())).thenIgnores('AlreadyProposed');
    correctionWith(proposed())
      .when(record(proposed(30)))
      .thenRejects('ReferenceInUse', { status: 'proposed' });
    correctionWith(proposed(), rejected())
      .when(record(proposed()))
      .thenRejects('ReferenceInUse', { status: 'rejected' });
    correctionWith(proposed())
      .when(record(proposed(), LATER))
      .thenRejects('ReferenceInUse', { status: 'expired' });
  });

  it('is the first of its stream: one that somebody appends later changes nothing', () => {
    correctionWith(proposed(), proposed(90)).when(record(proposed())).thenIgnores('AlreadyProposed');
    correctionWith(proposed(), rejected(), proposed())
      .when(record(approved()))
      .thenRejects('WrongStatus', { status: 'rejected' });
  });
});

describe('an approval', () => {
  it('is recorded once', () => {
    correctionWith(proposed()).when(record(approved())).then(approved());
    correctionWith(proposed(), approved()).when(record(approved())).thenIgnores('AlreadyRecorded');
    correctionWith().when(record(approved())).thenRejects('Unknown');
  });

  it('does not count after the proposal has ended', () => {
    correctionWith(proposed())
      .when(record(approved(), LATER))
      .thenRejects('WrongStatus', { status: 'expired' });
    correctionWith(proposed(), rejected())
      .when(record(approved()))
      .thenRejects('WrongStatus', { status: 'rejected' });
  });
});

describe('a rejection', () => {
  it('ends a proposal, also one that was approved and refused by its books, which no approval then books', () => {
    correctionWith(proposed()).when(record(rejected())).then(rejected());
    correctionWith(proposed(), rejected()).when(record(rejected())).thenIgnores('AlreadyRecorded');
    correctionWith(proposed(), approved()).when(record(rejected())).then(rejected());
    correctionWith(proposed(), approved(), rejected())
      .when(record(proposed()))
      .thenRejects('ReferenceInUse', { status: 'rejected' });
  });
});

const proposedBy = (who = ada, amount = 20) => proposed(amount, who).data;
const approvedBy = (who = grace, amount = 20) => approved(who, proposed(amount)).data;
const refusal = (proposed = proposedBy(), approved: ReturnType<typeof approvedBy> | null = null) =>
  refuseSignatures({ proposed, approved }, OPERATORS);

describe('the signatures of a correction', () => {
  it('are of one operator who proposes, or of two', () => {
    expect(refusal()).toBeNull();
    expect(refusal(proposedBy(), approvedBy())).toBeNull();
    expect(refusal(proposedBy(), approvedBy(ada))).toBe('ada proposed it: another person must approve it');
  });

  it('do not count of somebody unknown or retired', () => {
    expect(refusal(proposedBy(eve))).toBe('eve has no active key in OPERATORS');
    expect(refusal(proposedBy(), approvedBy(eve))).toBe('eve has no active key in OPERATORS');
    for (const name of ['ada', 'grace']) {
      const retired = OPERATORS.map((one) =>
        one.name === name ? { ...one, state: 'retired' as const, retiredAt: 0 } : one,
      );
      expect(refuseSignatures({ proposed: proposedBy(), approved: approvedBy() }, retired)).toBe(
        `${name} has no active key in OPERATORS`,
      );
    }
  });

  it('fit each entry, as it is, and only the operator who signed', () => {
    const proposed = proposedBy();
    for (const change of [
      { signatures: proposed.signatures.slice(1) },
      { signatures: proposed.signatures.toReversed() },
      { signatures: proposedBy(eve).signatures },
      { entries: proposed.entries.map((entry) => ({ ...entry, amount: 21 })) },
      { operator: 'grace' },
    ])
      expect(refusal({ ...proposed, ...change })).toMatch(/^The signature of (ada|grace) does not fit$/);
    expect(refusal(proposed, approvedBy(grace, 30))).toBe('The signature of grace does not fit');
  });
});

/** Another Base64 text of the same key. */
const otherTextOf = (publicKey: string): string => {
  const [last] = /.(?==$)/.exec(publicKey)!;
  return `${publicKey.slice(0, -2)}${String.fromCharCode(last.charCodeAt(0) + 1)}=`;
};

describe('the setting OPERATORS', () => {
  it('names operators with their keys, and who has retired', () => {
    const text = `ada:${ada.publicKey},\n grace:${grace.publicKey}:retired=2026-04-01T12:00:00Z, grace:${eve.publicKey}:active`;
    expect(parseOperators(text)).toEqual([
      { name: 'ada', publicKey: ada.publicKey, state: 'active', retiredAt: null },
      { name: 'grace', publicKey: grace.publicKey, state: 'retired', retiredAt: Date.UTC(2026, 3, 1, 12) },
      { name: 'grace', publicKey: eve.publicKey, state: 'active', retiredAt: null },
    ]);
    expect(parseOperators('')).toEqual([]);
  });

  it.each([
    ['ada', 'in place of <name>:<public key>'],
    [`ada:${ada.publicKey}:gone`, 'in place of <name>:<public key>'],
    [`ada:${ada.publicKey}:retired=2026-02-30T12:00:00Z`, 'says not since when a key of ada is retired'],
    ['ada:AAAA', 'no Ed25519 public key for ada'],
    // The same 32 bytes: the last character has two bits more.
    [`ada:${otherTextOf(ada.publicKey)}`, 'no Ed25519 public key for ada'],
    [`ada:${ada.publicKey},ada:${grace.publicKey}`, 'names ada twice'],
    [`ada:${ada.publicKey},grace:${ada.publicKey}:retired=2026-04-01T12:00:00Z`, 'twice'],
  ])('is refused as %s', (text, why) => {
    expect(() => parseOperators(text)).toThrow(why);
  });
});
