import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId, streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { LedgerDifference } from '../contracts/audit.js';
import { correctionEvents, type CompensatedEntry, type CorrectionFinding } from '../contracts/corrections.js';
import type { Operator } from '../settings.js';
import { creditsEvents, type CreditsEventOf } from '../contracts/events.js';
import { signedText } from '../domain/correction.js';
import { signatureFault } from '../signatures.js';
import { bookEvent } from './book-entry.js';
import { asAppended, isDocumentRefund, RefundCauses } from './document-refunds.js';
import { differenceOf } from './reconcile.js';

type Adjusted = CreditsEventOf<'CreditsAdjusted'>['data'];

/** What an audit of the ledger says of corrections, in the order of the log. */
export interface CorrectionsReport {
  readonly findings: readonly CorrectionFinding[];
  readonly compensated: readonly CompensatedEntry[];
}

/** Whether {@link verifyCorrections} looks at this event. */
export const isCorrection = ({ type, stream }: StoredEvent): boolean =>
  type === 'CreditsAdjusted' && categoryOf(stream) === creditsEvents.category;

interface Found {
  readonly id: string;
  readonly finding: CorrectionFinding;
  /** Id of the signed correction that took back the last of it. */
  compensatedBy: string | null;
}

/** An entry that nobody signed, and all entries that reverse it, each other's reversals among them. */
interface Group {
  /** Credits since the first open entry. */
  sum: number;
  /** Entries that no signed correction has compensated. */
  open: Found[];
}

/**
 * Checks that two operators signed each correction in a book, or that it follows from a document that failed. What cannot
 * be read is for `BookVerifier`.
 * @param entries `CreditsAdjusted` of whole books, in the order of the log
 * @param operators OPERATORS; those that are retired count for what is dated before
 */
export const verifyCorrections = async (
  store: Pick<EventStore, 'read'>,
  entries: readonly StoredEvent[],
  operators: readonly Operator[],
): Promise<CorrectionsReport> => {
  const end = readOnce((correctionId) => endOf(store, correctionId));
  const shared = readOnce((stream) => sharedIds(store, stream, entries));
  const causes = await RefundCauses.of(store, entries.filter(isDocumentRefund));
  const found: Found[] = [];
  /** By stream and adjustment: each may be booked once. */
  const booked = new Set<string>();
  /** By stream and event id: a store takes an id twice, and a reversal names only one of the two. */
  const ids = new Set<string>();
  /** By stream and event id of each entry of the group. */
  const groups = new Map<string, Group>();
  for (const stored of entries) {
    const entry = bookEvent(stored);
    if (isOpaque(entry) || entry.type !== 'CreditsAdjusted') continue;
    const { stream, revision, id, data } = entry;
    const isCopy = ids.has(`${stream} ${id}`);
    ids.add(`${stream} ${id}`);
    const fault = isDocumentRefund(entry)
      ? causes.faultOf(entry)
      : (faultOf(entry, booked, operators) ?? lateBecause(entry, await end(data.correctionId!)));
    const message = fault ?? (isCopy ? 'the entry has the id of another one' : null);
    causes.take(entry);
    if (isDocumentRefund(entry) && message === null) continue;
    const known = groups.get(`${stream} ${id}`) ?? groups.get(`${stream} ${data.reversesEventId}`);
    // No correction can name it: it would compensate the other one.
    const group = (!isCopy && known) || { sum: 0, open: [] };
    if (!isCopy && (known || message !== null)) groups.set(`${stream} ${id}`, group);
    if (message !== null)
      group.open.push({ id, finding: { stream, revision, message }, compensatedBy: null });
    if (message !== null) found.push(group.open.at(-1)!);
    if (group.open.length > 0) group.sum += data.amount;
    if (message !== null || group.open.length === 0 || group.sum !== 0) continue;
    // A reversal may have named the other entry with the id.
    const others = await shared(stream);
    if (group.open.some((one) => others.has(one.id))) continue;
    for (const one of group.open) one.compensatedBy = data.correctionId!;
    group.open = [];
  }
  const findings = found.flatMap(({ finding, compensatedBy }) => (compensatedBy === null ? [finding] : []));
  const unknown = `OPERATORS is not set here, so nobody knows whose signatures count: ${findings.length} findings`;
  return {
    findings:
      operators.length > 0 ? findings : findings.slice(0, 1).map((one) => ({ ...one, message: unknown })),
    compensated: found.flatMap(({ finding, compensatedBy }) =>
      compensatedBy === null ? [] : [{ ...finding, compensatedBy }],
    ),
  };
};

/** How long booking takes at most after an approval: some books are busy (ms). */
const BOOKED_WITHIN_MS = 3_600_000;

/** When a correction ended, as its stream says. */
interface End {
  readonly expiresAt: number;
  /** Position of its rejection; `null`: none. */
  readonly rejectedAt: bigint | null;
}

/** @returns `null`: nobody proposed it */
const endOf = async (store: Pick<EventStore, 'read'>, correctionId: string): Promise<End | null> => {
  let end: End | null = null;
  for await (const stored of store.read(streamName(correctionEvents.category, correctionId))) {
    const event = decodeOrShow(correctionEvents, asAppended(stored));
    if (isOpaque(event)) continue;
    if (event.type === 'CorrectionProposed')
      end ??= { expiresAt: Date.parse(event.data.expiresAt), rejectedAt: null };
    if (event.type === 'CorrectionRejected' && end)
      end = { ...end, rejectedAt: end.rejectedAt ?? stored.position };
  }
  return end;
};

/**
 * Why nothing of a correction could be booked any more: either operator alone has both signatures and could append the
 * entry. `null`: it could.
 */
const lateBecause = ({ position, metadata }: Recorded, end: End | null): string | null => {
  if (end === null) return 'the entry is of a correction that nobody proposed';
  if (end.rejectedAt !== null && end.rejectedAt < position)
    return 'the entry is of a correction that was rejected';
  return Date.parse(metadata.occurredAt) < end.expiresAt + BOOKED_WITHIN_MS
    ? null
    : 'the entry is of a correction that had expired';
};

/** The ids of a book's corrections that another entry of any kind has, too. */
const sharedIds = async (
  store: Pick<EventStore, 'read'>,
  stream: string,
  corrections: readonly StoredEvent[],
): Promise<ReadonlySet<string>> => {
  const times = new Map<string, number>(
    corrections.flatMap(({ stream: of, id }) => (of === stream ? [[id, 0] as const] : [])),
  );
  for await (const { id } of store.read(stream)) if (times.has(id)) times.set(id, times.get(id)! + 1);
  return new Set([...times].flatMap(([id, found]) => (found > 1 ? [id] : [])));
};

const readOnce = <T>(read: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const known = new Map<string, Promise<T>>();
  return (key) => {
    const reading = known.get(key) ?? read(key);
    known.set(key, reading);
    return reading;
  };
};

/** The same findings, for the reports of reconciliations. */
export const correctionDifferences = ({ findings }: CorrectionsReport): readonly LedgerDifference[] =>
  findings.map(({ stream, revision, message }) =>
    differenceOf('correction', streamId(stream), `${stream}@${revision}: ${message}`, {}),
  );

/** Why an entry is none that two operators signed; `null`: it is. @param booked entries before it; takes it, too */
const faultOf = (
  { stream, data, metadata }: Recorded<{ type: 'CreditsAdjusted'; data: Adjusted }>,
  booked: Set<string>,
  operators: readonly Operator[],
): string | null => {
  const { adjustmentId, signed, correctionId, actor, approvedBy, allocations, expiresAt = null } = data;
  const isTwice = booked.has(`${stream} ${adjustmentId}`);
  booked.add(`${stream} ${adjustmentId}`);
  if (isTwice) return 'the entry is booked twice';
  if (!signed || correctionId === undefined || !actor.startsWith('operator:'))
    return 'no two operators signed this entry';
  const proposedBy = actor.slice('operator:'.length);
  if (proposedBy === approvedBy) return `${approvedBy} proposed and approved this entry alone`;
  const { grantId, proposer, approver } = signed;
  const ids = { workspaceId: streamId(stream), correctionId, proposedBy };
  const text = signedText({ ...data, ...ids, grantId, expiresAt });
  for (const [name, signature] of [
    [proposedBy, proposer],
    [approvedBy, approver],
  ] as const) {
    const fault = signatureFault(operators, name, [text], [signature], Date.parse(metadata.occurredAt));
    if (fault === 'unknown') return `${name}, who is to have signed this entry, is no operator`;
    if (fault === 'wrong') return `the signature of ${name} does not fit this entry`;
    if (fault) return `the key with which ${name} is to have signed this entry was retired before`;
  }
  return grantId !== null && allocations.some((one) => one.amount < 0 && one.grantId !== grantId)
    ? `the entry takes credits of another grant than ${grantId}, which was signed`
    : null;
};
