import type {
  CompensatedEntry,
  Correction,
  CorrectionRefusal,
  EntryValue,
  BookRefusal,
  Signed,
} from '@app/billing/contracts/index.js';
import { table } from '../output.js';

/** An entry that is no finding any more. */
export const describeCompensated = ({ stream, revision, message, compensatedBy }: CompensatedEntry): string =>
  `${stream} revision ${revision}: ${message}; compensated by ${compensatedBy}`;

/** One sentence without its full stop. */
export const describeRefusal = (refusal: CorrectionRefusal): string => {
  switch (refusal.code) {
    case 'above_limit': {
      const today = refusal.used > 0 ? `, ${refusal.used} of them used today` : '';
      return `${refusal.credits} credits are above the limit ${refusal.limit}, which is ${refusal.value}${today}`;
    }
    case 'too_large':
      return `It has ${size(refusal)}: ${SPLIT}`;
    case 'not_trusted':
      return `${refusal.operator} is not trusted with this: revoked, not confirmed, or without the role`;
    case 'same_person':
      return `${refusal.operator} proposed it: another person must approve it`;
    case 'not_proposer':
      return `Only ${refusal.operator}, who proposed it, may withdraw it; others reject it`;
    case 'bad_signature':
      return 'The signatures do not fit: ops corrections verify says which';
    case 'bad_expiry':
      return 'A proposal expires within 31 days';
    case 'stale':
      return 'It has changed since it was signed: repeat the command';
    case 'too_slow':
      return 'The command was slow after it counted the credits of the day: repeat it';
    case 'unknown':
      return 'There is no such correction: ops corrections list shows them';
    case 'reference_in_use':
      return `Another correction has this reference, and is ${refusal.status}: use another reference`;
    case 'wrong_status':
      return `The correction is ${refusal.status}`;
    default:
      return describeBookRefusal(refusal);
  }
};

/** The same reference would name the same correction. */
const SPLIT =
  'split it into several corrections, each with a part of the entries and a --reference of its own';

const size = ({ size, most, unit }: { size: number; most: number; unit: string }): string =>
  `${size} ${unit}, and ${most} is the most`;

export const describeBookRefusal = (refusal: BookRefusal): string => {
  const { workspaceId } = refusal;
  switch (refusal.code) {
    case 'book_not_open':
      return `Workspace ${workspaceId} has no credit book`;
    case 'busy':
      return `The book of ${workspaceId} is busy: repeat the command`;
    case 'booked_before':
      return `The book of ${workspaceId} has an entry of an earlier proposal of this correction: propose what is left under another reference`;
    case 'book_too_large':
      return `The entries of ${workspaceId} have ${size(refusal)}: ${SPLIT}`;
    case 'insufficient':
      return `Workspace ${workspaceId}: only ${refusal.available} credits are available, not ${refusal.required}`;
    case 'nothing_to_reverse':
      return `The book of ${workspaceId} has no entry ${refusal.eventId} that could be reversed`;
    case 'reversal_exceeded':
      return `Of the entry ${refusal.eventId}, ${refusal.original} credits may be reversed; ${refusal.reversed} are already`;
  }
};

const by = ({ at, signedBy }: Signed): string =>
  `${signedBy.operator} at ${at} (key ${signedBy.keySha256.slice(0, 16)}…)`;

/** The command that approves this proposal, and no other one that has taken its place since. */
export const approvalOf = ({
  correctionId,
  proposal,
}: Pick<Correction, 'correctionId' | 'proposal'>): string =>
  `ops corrections approve ${correctionId} --proposal ${proposal} --yes`;

/** Everything that an approver must see. */
export const describeCorrection = (correction: Correction): string => {
  const { correctionId, status, kind, reason, reference, credits, entries } = correction;
  const { proposed, approved, ended, expiresAt, proposal } = correction;
  return [
    `Correction ${correctionId} (${kind.replace('_', ' ')}) is ${status}.`,
    `Reference ${reference}; ${credits} credits in ${entries.length} entries; reason: ${reason}`,
    `Proposed by ${by(proposed)}; to be approved before ${expiresAt}`,
    `Signed digest ${proposal}`,
    ...(approved ? [`Approved by ${by(approved)}`] : []),
    ...(ended ? [`Ended by ${by(ended)}: ${ended.reason}`] : []),
    '',
    table(
      [
        ...['workspace', 'credits', 'US dollars', 'grant', 'expires', 'book from', 'reverses', 'reference'],
        ...['booked', 'reason'],
      ],
      entries.map((one) => [
        one.workspaceId,
        one.amount,
        one.value ? dollars(-one.value.cents) : '',
        one.grantId ?? '',
        one.expiresAt ?? '',
        one.notBefore ?? '',
        one.reversesEventId ?? '',
        one.reference,
        one.booked ? 'yes' : 'no',
        one.reason,
      ]),
    ),
    ...describeValues(entries.flatMap(({ value }) => value ?? [])),
  ].join('\n');
};

const dollars = (cents: number): string => (cents / 100).toFixed(2);

/** What finance has to pay back, and by how much income changes. */
const describeValues = (values: readonly EntryValue[]): string[] => {
  const sums = new Map<string, number>();
  for (const { as, of, cents } of values) {
    const label = as === 'refunds' ? `to pay back for ${of}` : INCOME[as];
    sums.set(label, (sums.get(label) ?? 0) + cents);
  }
  return [...sums].flatMap(([label, cents]) => (cents === 0 ? [] : `US dollars ${label}: ${dollars(cents)}`));
};

const INCOME = {
  earned: 'earned by readings',
  breakage: 'of expired credits',
  corrections: 'withdrawn without money back',
};
