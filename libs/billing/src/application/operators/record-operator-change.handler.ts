import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { signerOf } from '../../audit/corrections/admit-operator.js';
import {
  RecordOperatorChange,
  type OperatorChangeResult,
  type OperatorRefusal,
  type OperatorsEvent,
} from '../../contracts/operators.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { operators, type OperatorsRejection } from '../../domain/operators/operators.decider.js';
import { keyOf } from '../../domain/operators/operators.state.js';
import { keyDigest, statementDigest } from '../../domain/signed-text.js';
import type { Config } from '../../settings.js';
import { isSignedWith } from '../../signatures/signatures.js';
import { REGISTER } from '../../signed-streams.js';
import { VerifiedRegister } from './operator-register.js';
import { isSignedNow } from './signed-now.js';

@CommandHandler(RecordOperatorChange)
export class RecordOperatorChangeHandler implements ICommandHandler<RecordOperatorChange> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly register: VerifiedRegister,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATOR_ROOT_KEYS'>,
  ) {}

  async execute({ change, by }: RecordOperatorChange): Promise<OperatorChangeResult> {
    const now = await this.clock.now();
    const register = await this.register.load();
    const publicKey = signerOf(change, register);
    if (!publicKey) return refused('not_trusted');
    if (!isSignedWith(change, publicKey)) return refused('bad_signature');
    if (!isSignedNow(change.data.at, now)) return refused('stale');
    const command = { change, rootKeys: this.config.OPERATOR_ROOT_KEYS };
    const decision = operators.decide(command, register);
    if (decision.kind === 'reject') return refused(REFUSALS[decision.code]);
    const outcome = await this.executors.operators.execute(REGISTER, command, {
      intent: statementDigest(change),
      by,
      workspaceId: '',
      at: now,
    });
    if (outcome.kind === 'rejected') return refused(REFUSALS[outcome.code]);
    const key = keyOf(outcome.state, subjectOf(change))!;
    return { outcome: outcome.kind === 'accepted' ? 'recorded' : 'already', key };
  }
}

/** The key that the statement is about. */
const subjectOf = ({ type, data }: OperatorsEvent): string =>
  type === 'OperatorAdded' || type === 'OperatorKeyRotated' ? keyDigest(data.publicKey) : data.keySha256;

const refused = (why: OperatorRefusal): OperatorChangeResult => ({ outcome: 'refused', why });

const REFUSALS: Readonly<Record<OperatorsRejection['code'], OperatorRefusal>> = {
  NotARootKey: 'not_a_root_key',
  AlreadyOperator: 'already_operator',
  KeyInUse: 'key_in_use',
  UnknownKey: 'unknown_key',
  NotTrusted: 'not_trusted',
  SamePerson: 'same_person',
  Stale: 'stale',
};
