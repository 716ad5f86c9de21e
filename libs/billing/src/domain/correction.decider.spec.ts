import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { CorrectionOffice } from '../../test/correction-office.js';
import { ada, grace } from '../../test/operators.js';
import type { CorrectionEvent } from '../contracts/corrections.js';
import { correction, type CorrectionCommand } from './correction.decider.js';

const office = new CorrectionOffice();
const NOW = office.now;
const LATER = NOW + 86_400_000;
const proposed = (amount = 20, who = ada) => office.proposedAs('c1', [{ amount }, { amount: 1 }], who);
const approved = (who = grace, of = proposed()) => office.approved(of, who);
const rejected = (): CorrectionEvent => ({
  type: 'CorrectionRejected',
  data: { correctionId: 'c1', reason: 'wrong' },
});
const record = (event: CorrectionEvent, more: Partial<CorrectionCommand> = {}): CorrectionCommand => ({
  event,
  maxCredits: 100,
  now: NOW,
  ...more,
});
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
      .when(record(proposed(), { now: LATER }))
      .thenRejects('ReferenceInUse', { status: 'expired' });
  });

  it('is the first of its stream: one that somebody appends later changes nothing', () => {
    correctionWith(proposed(), proposed(90)).when(record(proposed())).thenIgnores('AlreadyProposed');
    correctionWith(proposed(), rejected(), proposed())
      .when(record(approved()))
      .thenRejects('WrongStatus', { status: 'rejected' });
  });

  it('keeps to the limit, with credits counted without their sign', () => {
    correctionWith()
      .when(record(proposed(-100)))
      .thenRejects('AboveLimit', { credits: 101, most: 100 });
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
      .when(record(approved(), { now: LATER }))
      .thenRejects('WrongStatus', { status: 'expired' });
    correctionWith(proposed(), rejected())
      .when(record(approved()))
      .thenRejects('WrongStatus', { status: 'rejected' });
  });
});

describe('a rejection', () => {
  it('ends a proposal until it is approved', () => {
    correctionWith(proposed()).when(record(rejected())).then(rejected());
    correctionWith(proposed(), rejected()).when(record(rejected())).thenIgnores('AlreadyRecorded');
    correctionWith(proposed(), approved())
      .when(record(rejected()))
      .thenRejects('WrongStatus', { status: 'approved' });
  });
});
