import { describe, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import { fold } from '@app/event-sourcing/core/decider.js';
import type { OperatorRole, OperatorsEvent } from '../../contracts/operators.js';
import { keyDigest } from '../signed-text.js';
import { operators } from './operators.decider.js';

const publicKeyOf = (name: string): string => Buffer.from(`public key of ${name}`).toString('base64');
const digestOf = (name: string): string => keyDigest(publicKeyOf(name));
const ROOTS = [digestOf('ada'), digestOf('grace')];

const signed = (operator: string, key = operator) => ({
  at: '2026-04-10T12:00:00.000Z',
  signedBy: { operator, keySha256: digestOf(key) },
  signature: 'signature',
});
type Unplaced = {
  [T in OperatorsEvent['type']]: Omit<Extract<OperatorsEvent, { type: T }>, 'data'> & { data: object };
}[OperatorsEvent['type']];

const added = (
  operator: string,
  by = operator,
  roles: OperatorRole[] = ['propose', 'approve', 'manage'],
): Unplaced => ({
  type: 'OperatorAdded',
  data: { operator, publicKey: publicKeyOf(operator), roles, maxCredits: null, ...signed(by) },
});
const confirmed = (operator: string, by: string): Unplaced => ({
  type: 'OperatorConfirmed',
  data: { operator, keySha256: digestOf(operator), ...signed(by) },
});
const revoked = (operator: string, by: string): Unplaced => ({
  type: 'OperatorRevoked',
  data: { operator, keySha256: digestOf(operator), reason: 'lost', ...signed(by) },
});
const rotated = (operator: string, to: string, by = operator): Unplaced => ({
  type: 'OperatorKeyRotated',
  data: { operator, keySha256: digestOf(operator), publicKey: publicKeyOf(to), ...signed(by) },
});

/** Statements, each signed for the register as the earlier ones leave it. */
const placed = (events: readonly Unplaced[]): OperatorsEvent[] => {
  const all: OperatorsEvent[] = [];
  for (const event of events) {
    const { head: previous } = fold(operators, operators.initialState, all);
    all.push({ ...event, data: { ...event.data, previous } } as OperatorsEvent);
  }
  return all;
};
const register = (...history: readonly Unplaced[]) => ({
  when: (event: Unplaced) => {
    const events = placed([...history, event]);
    const change = events.at(-1)!;
    const outcome = given(operators, events.slice(0, -1)).when({ change, rootKeys: ROOTS });
    return { ...outcome, thenIsRecorded: () => outcome.then(change) };
  },
});
const two = [added('ada'), added('grace')] as const;

describe('an operator', () => {
  it('adds themself with a root key, and with no other', () => {
    register().when(added('ada')).thenIsRecorded();
    register(added('ada')).when(added('grace')).thenIsRecorded();
    register(...two)
      .when(added('eve'))
      .thenRejects('NotARootKey');
    register(added('ada')).when(added('ada')).thenIgnores('AlreadyAdded');
  });

  it('is otherwise added by one and confirmed by another, neither of them the same person', () => {
    register(...two)
      .when(added('lin', 'ada'))
      .thenIsRecorded();
    const pending = [...two, added('lin', 'ada')];
    register(...pending)
      .when(confirmed('lin', 'grace'))
      .thenIsRecorded();
    register(...pending)
      .when(confirmed('lin', 'ada'))
      .thenRejects('SamePerson');
    register(...pending)
      .when(confirmed('lin', 'lin'))
      .thenRejects('NotTrusted');
    register(...pending)
      .when(added('eve', 'lin'))
      .thenRejects('NotTrusted');
    register(...pending, confirmed('lin', 'grace'))
      .when(confirmed('lin', 'grace'))
      .thenIgnores('AlreadyConfirmed');
  });

  it('alone cannot make a second one, not even after revoking all others', () => {
    const alone = [...two, revoked('grace', 'ada')];
    register(...alone)
      .when(added('puppet'))
      .thenRejects('NotARootKey');
    register(...alone, added('puppet', 'ada'))
      .when(confirmed('puppet', 'ada'))
      .thenRejects('SamePerson');
  });

  it('without the role manages nobody', () => {
    register(...two, added('lin', 'ada', ['propose']), confirmed('lin', 'grace'))
      .when(added('eve', 'lin'))
      .thenRejects('NotTrusted');
  });

  it('is revoked by one signature, once, and signs nothing more', () => {
    register(...two)
      .when(revoked('grace', 'ada'))
      .thenIsRecorded();
    register(...two)
      .when(revoked('grace', 'grace'))
      .thenIsRecorded();
    register(...two, revoked('grace', 'ada'))
      .when(revoked('grace', 'ada'))
      .thenIgnores('AlreadyRevoked');
    register(...two, revoked('grace', 'ada'))
      .when(revoked('ada', 'grace'))
      .thenRejects('NotTrusted');
    register(...two, revoked('grace', 'ada'))
      .when(added('grace'))
      .thenRejects('KeyInUse');
  });

  it('replaces their own key with a new one', () => {
    register(...two)
      .when(rotated('ada', 'ada-2'))
      .thenIsRecorded();
    register(...two)
      .when(rotated('ada', 'ada-2', 'grace'))
      .thenRejects('NotTrusted');
    register(...two)
      .when(rotated('ada', 'grace'))
      .thenRejects('KeyInUse');
    register(...two, rotated('ada', 'ada-2'))
      .when(revoked('grace', 'ada'))
      .thenRejects('NotTrusted');
  });
});

describe('a signed statement', () => {
  it('fits in one place: it cannot be repeated later', () => {
    const [first, old] = placed([added('ada'), added('grace')]);
    const history = placed([added('ada'), added('lin', 'ada')]);
    given(operators, [first!, history[1]!]).when({ change: old!, rootKeys: ROOTS }).thenRejects('Stale');
  });
});
