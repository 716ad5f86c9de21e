import { describe, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import type { CorrectionEvent, CorrectionEventOf } from '../../contracts/corrections.js';
import type { OperatorKey, OperatorRegister } from '../../contracts/operators.js';
import { statementDigest } from '../signed-text.js';
import { correction, type CorrectionCommand } from './correction.decider.js';

const NOW = Date.parse('2026-04-10T12:00:00.000Z');
const AT = '2026-04-10T12:00:00.000Z';

const key = (operator: string, more: Partial<OperatorKey> = {}): OperatorKey => ({
  operator,
  keySha256: `key of ${operator}`,
  publicKey: '',
  roles: ['propose', 'approve', 'manage'],
  maxCredits: null,
  status: 'active',
  addedBy: null,
  addedAt: AT,
  endedAt: null,
  ...more,
});
const register: OperatorRegister = { keys: [key('ada'), key('grace')], head: '' };
const by = (operator: string) => ({
  at: AT,
  signedBy: { operator, keySha256: `key of ${operator}` },
  signature: 'signature',
});

const proposed = (amount = 20, operator = 'ada'): CorrectionEventOf<'CorrectionProposed'> => ({
  type: 'CorrectionProposed',
  data: {
    correctionId: 'c1',
    kind: 'adjustment',
    reason: 'outage',
    reference: 'INC-42',
    entries: [
      {
        workspaceId: 'ws_1',
        amount,
        reason: 'outage',
        reference: 'INC-42',
        reversesEventId: null,
        grantId: null,
        expiresAt: null,
        notBefore: null,
      },
    ],
    expiresAt: '2026-04-17T12:00:00.000Z',
    ...by(operator),
  },
});
const proposal = statementDigest(proposed());
const approved = (operator = 'grace'): CorrectionEvent => ({
  type: 'CorrectionApproved',
  data: { correctionId: 'c1', proposal, ...by(operator) },
});
const ended = (type: 'CorrectionRejected' | 'CorrectionWithdrawn', operator: string): CorrectionEvent => ({
  type,
  data: { correctionId: 'c1', proposal, reason: 'wrong', ...by(operator) },
});
const booked: CorrectionEvent = {
  type: 'CorrectionBooked',
  data: { correctionId: 'c1', proposal, positions: [0] },
};
const record = (event: CorrectionEvent, more: Partial<CorrectionCommand> = {}): CorrectionCommand => ({
  event,
  register,
  maxCredits: 100,
  now: NOW,
  booked: [],
  ...more,
});
const correctionWith = (...events: readonly CorrectionEvent[]) => given(correction, events);

describe('a proposal', () => {
  it('is recorded once, and keeps its reference while it may be booked', () => {
    correctionWith().when(record(proposed())).then(proposed());
    correctionWith(proposed()).when(record(proposed())).thenIgnores('AlreadyProposed');
    correctionWith(proposed())
      .when(record(proposed(30)))
      .thenRejects('ReferenceInUse', { status: 'proposed' });
    correctionWith(proposed(), approved())
      .when(record(proposed(30), { booked: [0] }))
      .thenRejects('ReferenceInUse', { status: 'booked' });
  });

  it('does not come back once it has ended', () => {
    const end = ended('CorrectionWithdrawn', 'ada');
    correctionWith(proposed(), end).when(record(proposed())).thenRejects('Stale');
    correctionWith(proposed(), end, proposed(30), ended('CorrectionRejected', 'grace'))
      .when(record(proposed()))
      .thenRejects('Stale');
  });

  it('may follow one that was withdrawn, rejected, or has expired', () => {
    for (const end of [ended('CorrectionWithdrawn', 'ada'), ended('CorrectionRejected', 'grace')])
      correctionWith(proposed(), end)
        .when(record(proposed(30)))
        .then(proposed(30));
    const later = proposed(30);
    later.data.expiresAt = '2026-04-30T00:00:00.000Z';
    correctionWith(proposed())
      .when(record(later, { now: Date.parse('2026-04-17T12:00:00.000Z') }))
      .then(later);
  });

  it('keeps to the limits, with credits counted without their sign', () => {
    const limit = { limit: 'CORRECTION_MAX_CREDITS', value: 100, credits: 101 };
    correctionWith()
      .when(record(proposed(-101)))
      .thenRejects('AboveLimit', limit);
    const keys = [key('ada', { maxCredits: 10 }), key('grace')];
    correctionWith()
      .when(record(proposed(11), { register: { keys, head: '' } }))
      .thenRejects('AboveLimit', { limit: 'maxCredits of ada', value: 10, credits: 11 });
  });

  it('needs an operator who is trusted with it, and a near expiry', () => {
    for (const doubtful of [{ status: 'revoked' }, { status: 'pending' }, { roles: ['approve'] }] as const)
      correctionWith()
        .when(record(proposed(), { register: { keys: [key('ada', doubtful)], head: '' } }))
        .thenRejects('NotTrusted', { operator: 'ada' });
    correctionWith()
      .when(record(proposed(), { now: Date.parse('2026-03-01') }))
      .thenRejects('BadExpiry');
  });
});

describe('an approval', () => {
  it('is of another person with another key', () => {
    correctionWith(proposed()).when(record(approved())).then(approved());
    correctionWith(proposed())
      .when(record(approved('ada')))
      .thenRejects('SamePerson', { operator: 'ada' });
    correctionWith(proposed(), approved()).when(record(approved())).thenIgnores('AlreadyApproved');
  });

  it('is of the very proposal, before it expires', () => {
    correctionWith(proposed(30)).when(record(approved())).thenRejects('Stale');
    correctionWith(proposed())
      .when(record(approved(), { now: Date.parse('2026-04-17T12:00:00.000Z') }))
      .thenRejects('WrongStatus', { status: 'expired' });
    correctionWith().when(record(approved())).thenRejects('Unknown');
  });

  it('does not count when either of the two is no longer trusted', () => {
    for (const revoked of ['ada', 'grace']) {
      const keys = register.keys.map((one) =>
        one.operator === revoked ? key(revoked, { status: 'revoked' }) : one,
      );
      correctionWith(proposed())
        .when(record(approved(), { register: { keys, head: '' } }))
        .thenRejects('NotTrusted', { operator: revoked });
    }
  });
});

describe('an end', () => {
  it('is the proposer’s withdrawal, or a rejection, until the entries are booked', () => {
    const [withdrawn, rejected] = [ended('CorrectionWithdrawn', 'ada'), ended('CorrectionRejected', 'grace')];
    for (const end of [withdrawn, rejected]) {
      correctionWith(proposed()).when(record(end)).then(end);
      correctionWith(proposed(), approved()).when(record(end)).then(end);
      correctionWith(proposed(), end).when(record(end)).thenIgnores('AlreadyEnded');
      correctionWith(proposed(), approved())
        .when(record(end, { booked: [0] }))
        .thenRejects('WrongStatus', { status: 'booked' });
      correctionWith(proposed(), end).when(record(approved())).thenRejects('WrongStatus');
    }
    correctionWith(proposed())
      .when(record(ended('CorrectionWithdrawn', 'grace')))
      .thenRejects('NotProposer', { operator: 'ada' });
  });
});

describe('a booking', () => {
  it('is what the books have, whatever the stream says', () => {
    correctionWith(proposed(), approved(), booked)
      .when(record(proposed(30)))
      .thenRejects('ReferenceInUse', { status: 'approved' });
  });

  it('is recorded once, after an approval', () => {
    correctionWith(proposed(), approved()).when(record(booked)).then(booked);
    correctionWith(proposed(), approved(), booked).when(record(booked)).thenIgnores('AlreadyBooked');
    correctionWith(proposed()).when(record(booked)).thenRejects('WrongStatus', { status: 'proposed' });
  });
});
