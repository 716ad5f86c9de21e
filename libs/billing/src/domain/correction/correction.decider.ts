import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import {
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '@app/event-sourcing/core/decision.js';
import {
  MOST_ENTRIES,
  type CorrectionEvent,
  type CorrectionEventOf,
  type CorrectionStatus,
} from '../../contracts/corrections.js';
import type { OperatorKey, OperatorRegister } from '../../contracts/operators.js';
import { bytesOf, MOST_APPEND_BYTES } from '../append-size.js';
import { trustedKey } from '../operators/operators.state.js';
import { statementDigest } from '../signed-text.js';
import {
  attemptsOf,
  creditsOf,
  evolve,
  noCorrection,
  statusAt,
  type CorrectionState,
} from './correction.state.js';

/** A statement whose signature fits the key that it names, or a record of what was booked. */
export interface CorrectionCommand {
  readonly event: CorrectionEvent;
  readonly register: OperatorRegister;
  /** CORRECTION_MAX_CREDITS. */
  readonly maxCredits: number;
  /** Milliseconds. */
  readonly now: number;
  /** Positions of the entries of the present proposal that their books have. */
  readonly booked: readonly number[];
}

export type CorrectionRejection =
  | Rejection<'AboveLimit', { readonly limit: string; readonly value: number; readonly credits: number }>
  | Rejection<'NotTrusted' | 'SamePerson' | 'NotProposer', { readonly operator: string }>
  | Rejection<
      'TooLarge',
      { readonly unit: 'entries' | 'bytes'; readonly size: number; readonly most: number }
    >
  | Rejection<'ReferenceInUse' | 'WrongStatus', { readonly status: CorrectionStatus }>
  /** It is not the proposal that was signed, or its expiry is not within 31 days. */
  | Rejection<'Stale' | 'BadExpiry' | 'Unknown', null>;
type CorrectionDecision = Decision<CorrectionEvent, CorrectionRejection>;

const MOST_DAYS_MS = 31 * 86_400_000;

const decide = (command: CorrectionCommand, state: CorrectionState | null): CorrectionDecision => {
  const { event } = command;
  if (event.type === 'CorrectionProposed') return propose(event, command, state);
  if (!state) return reject('Unknown', null);
  if (event.data.proposal !== state.proposal) return reject('Stale', null);
  switch (event.type) {
    case 'CorrectionApproved':
      return approve(event, command, state);
    case 'CorrectionRejected':
    case 'CorrectionWithdrawn':
      return end(event, command, state);
    case 'CorrectionBooked':
      return book(event, state);
    default:
      return assertNever(event);
  }
};

/** A correction of credit books, which two people sign. */
export const correction: Decider<
  CorrectionCommand,
  CorrectionEvent,
  CorrectionState | null,
  CorrectionRejection
> = { initialState: noCorrection, decide, evolve };

const propose = (
  event: CorrectionEventOf<'CorrectionProposed'>,
  { register, maxCredits, now, booked }: CorrectionCommand,
  state: CorrectionState | null,
): CorrectionDecision => {
  const { data } = event;
  if (state) {
    const status = statusAt(state, now, booked);
    if (['proposed', 'approved', 'booked'].includes(status))
      return isSame(data, state.proposed) ? ignore('AlreadyProposed') : reject('ReferenceInUse', { status });
    const digest = statementDigest(event);
    if (attemptsOf(state).some(({ proposal }) => proposal === digest)) return reject('Stale', null);
  }
  const key = trustedKey(register, data.signedBy, 'propose');
  if (!key) return reject('NotTrusted', { operator: data.signedBy.operator });
  const expiry = Date.parse(data.expiresAt);
  if (!(expiry > now && expiry <= now + MOST_DAYS_MS)) return reject('BadExpiry', null);
  return tooLarge(event) ?? aboveLimit(creditsOf(data), key, maxCredits) ?? accept(event);
};

const tooLarge = (event: CorrectionEventOf<'CorrectionProposed'>): CorrectionDecision | null => {
  const entries = event.data.entries.length;
  if (entries > MOST_ENTRIES)
    return reject('TooLarge', { unit: 'entries' as const, size: entries, most: MOST_ENTRIES });
  const size = bytesOf([event]);
  return size > MOST_APPEND_BYTES
    ? reject('TooLarge', { unit: 'bytes' as const, size, most: MOST_APPEND_BYTES })
    : null;
};

/** The same books, credits and reasons, whoever proposes them and until when. */
const isSame = (
  one: CorrectionEventOf<'CorrectionProposed'>['data'],
  other: CorrectionEventOf<'CorrectionProposed'>['data'],
): boolean => {
  const content = ({ kind, reason, reference, entries }: typeof one) =>
    canonicalJson({ kind, reason, reference, entries });
  return content(one) === content(other);
};

const aboveLimit = (credits: number, { maxCredits, operator }: OperatorKey, most: number) => {
  if (credits > most) return reject('AboveLimit', { limit: 'CORRECTION_MAX_CREDITS', value: most, credits });
  if (maxCredits === null || credits <= maxCredits) return null;
  return reject('AboveLimit', { limit: `maxCredits of ${operator}`, value: maxCredits, credits });
};

/** Another person with another key, while the proposer is still trusted. */
const approve = (
  event: CorrectionEventOf<'CorrectionApproved'>,
  { register, maxCredits, now, booked }: CorrectionCommand,
  state: CorrectionState,
): CorrectionDecision => {
  const status = statusAt(state, now, booked);
  if (status === 'approved' || status === 'booked') return ignore('AlreadyApproved');
  if (status !== 'proposed') return reject('WrongStatus', { status });
  const { signedBy } = event.data;
  const key = trustedKey(register, signedBy, 'approve');
  if (!key) return reject('NotTrusted', { operator: signedBy.operator });
  const proposer = state.proposed.signedBy;
  if (proposer.operator === signedBy.operator || proposer.keySha256 === signedBy.keySha256)
    return reject('SamePerson', { operator: signedBy.operator });
  if (!trustedKey(register, proposer, 'propose'))
    return reject('NotTrusted', { operator: proposer.operator });
  return aboveLimit(creditsOf(state.proposed), key, maxCredits) ?? accept(event);
};

/** Before the last entry is booked. What is in a book stays there. */
const end = (
  event: CorrectionEventOf<'CorrectionRejected'> | CorrectionEventOf<'CorrectionWithdrawn'>,
  { register, now, booked }: CorrectionCommand,
  state: CorrectionState,
): CorrectionDecision => {
  const status = statusAt(state, now, booked);
  if (status === 'withdrawn' || status === 'rejected') return ignore('AlreadyEnded');
  if (status === 'booked') return reject('WrongStatus', { status });
  const { operator } = event.data.signedBy;
  const isWithdrawn = event.type === 'CorrectionWithdrawn';
  if (isWithdrawn && operator !== state.proposed.signedBy.operator)
    return reject('NotProposer', { operator: state.proposed.signedBy.operator });
  const key = trustedKey(register, event.data.signedBy, isWithdrawn ? 'propose' : 'approve');
  return key ? accept(event) : reject('NotTrusted', { operator });
};

const book = (event: CorrectionEventOf<'CorrectionBooked'>, state: CorrectionState): CorrectionDecision => {
  const positions = event.data.positions.filter((position) => !state.noted.includes(position));
  if (positions.length === 0) return ignore('AlreadyBooked');
  if (state.approved === null) return reject('WrongStatus', { status: state.status });
  return accept({ ...event, data: { ...event.data, positions } });
};
