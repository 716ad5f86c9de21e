import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { CorruptEvent, decode, decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId, streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import type { LedgerDifference } from '../contracts/audit.js';
import type { CompensatedEntry, CorrectionFinding } from '../contracts/corrections.js';
import { creditsEvents, type CreditsEventOf } from '../contracts/events.js';
import {
  DOCUMENT_REFUND,
  DOCUMENT_REFUND_ACTOR,
  documentRefund,
  isGivenUp,
} from '../domain/correction.decider.js';
import type { Operator } from '../settings.js';
import { haveSigned, signedText } from '../signatures.js';
import { differenceOf } from './settlements.js';

type Adjusted = CreditsEventOf<'CreditsAdjusted'>['data'];

/** What an audit of the ledger says of corrections, in the order of the log. */
export interface CorrectionsReport {
  readonly findings: readonly CorrectionFinding[];
  readonly compensated: readonly CompensatedEntry[];
}

/** Whether {@link verifyCorrections} looks at this event. */
export const isCorrection = ({ type, stream }: StoredEvent): boolean =>
  type === 'CreditsAdjusted' && categoryOf(stream) === creditsEvents.category;

/** An entry that nobody signed, and all entries that reverse it, each other's reversals among them. */
interface Group {
  /** Credits since the first open entry. */
  sum: number;
  /** Entries that no signed correction has compensated. */
  open: CorrectionFinding[];
}

/**
 * Checks that two operators signed each correction in a book. An entry that no operator signs must follow from a document
 * that failed: this reads its causes.
 * @param entries `CreditsAdjusted` of whole books, in the order of the log
 * @param operators OPERATORS; those that are retired count too
 */
export const verifyCorrections = async (
  store: Pick<EventStore, 'read'>,
  entries: readonly StoredEvent[],
  operators: readonly Operator[],
): Promise<CorrectionsReport> => {
  const causes = await causesOf(store, entries);
  const findings: CorrectionFinding[] = [];
  const compensated = new Map<CorrectionFinding, string>();
  /** By stream and adjustment: each may be booked once. */
  const booked = new Set<string>();
  /** By stream and event id of each entry of the group. A forger may repeat an id. */
  const groups = new Map<string, Group>();
  for (const stored of entries) {
    if (isSetAside(stored)) continue;
    const { stream, revision, id } = stored;
    const data = adjustedIn(stored);
    if (data instanceof CorruptEvent) {
      findings.push({ stream, revision, message: data.message });
      continue;
    }
    const { adjustmentId, amount, reversesEventId, correctionId } = data;
    const isRefund = isDocumentRefund(stored);
    const isTwice = !isRefund && booked.has(`${stream} ${adjustmentId}`);
    if (!isRefund) booked.add(`${stream} ${adjustmentId}`);
    const capture = causes.captures.get(`${stream} ${reversesEventId}`);
    const fault = isRefund ? faultOfRefund(stored, data, causes) : faultOf(stream, data, operators);
    const message = isTwice ? 'the entry is booked twice' : fault;
    if (capture) capture.left -= amount;
    if (isRefund && message === null) continue;
    const known = groups.get(`${stream} ${id}`) ?? groups.get(`${stream} ${reversesEventId}`);
    const group = known ?? { sum: 0, open: [] };
    if (known || message !== null) groups.set(`${stream} ${id}`, group);
    if (message !== null) group.open.push({ stream, revision, message });
    if (message !== null) findings.push(group.open.at(-1)!);
    if (group.open.length > 0) group.sum += amount;
    if (message !== null || group.sum !== 0) continue;
    for (const finding of group.open) compensated.set(finding, correctionId!);
    group.open = [];
  }
  const left = findings.filter((finding) => !compensated.has(finding));
  const unknown = `OPERATORS is not set here, so nobody knows whose signatures count: ${left.length} findings`;
  return {
    findings: operators.length > 0 ? left : left.slice(0, 1).map((one) => ({ ...one, message: unknown })),
    compensated: findings.flatMap((finding) => {
      const compensatedBy = compensated.get(finding);
      return compensatedBy === undefined ? [] : [{ ...finding, compensatedBy }];
    }),
  };
};

/** The same findings, for the reports of reconciliations. */
export const correctionDifferences = ({ findings }: CorrectionsReport): readonly LedgerDifference[] =>
  findings.map(({ stream, revision, message }) =>
    differenceOf('correction', streamId(stream), `${stream}@${revision}: ${message}`, {}),
  );

const adjustedIn = (stored: StoredEvent): Adjusted | CorruptEvent => {
  try {
    return decode(creditsEvents, stored).data as Adjusted;
  } catch (error) {
    if (error instanceof CorruptEvent) return error;
    throw error;
  }
};

/** Why an entry is none that two operators signed; `null`: it is. */
const faultOf = (stream: string, data: Adjusted, operators: readonly Operator[]): string | null => {
  const { signed, correctionId, actor, approvedBy, allocations, expiresAt = null } = data;
  if (!signed || correctionId === undefined || !actor.startsWith('operator:'))
    return 'no two operators signed this entry';
  const proposedBy = actor.slice('operator:'.length);
  if (proposedBy === approvedBy) return `${approvedBy} proposed and approved this entry alone`;
  const { grantId, proposer, approver } = signed;
  const text = signedText({
    ...data,
    ...{ workspaceId: streamId(stream), correctionId, proposedBy, grantId, expiresAt },
  });
  for (const [name, signature] of [
    [proposedBy, proposer],
    [approvedBy, approver],
  ] as const) {
    const isSigned = haveSigned(operators, name, [text], [signature]);
    if (isSigned === null) return `${name}, who is to have signed this entry, is no operator`;
    if (!isSigned) return `the signature of ${name} does not fit this entry`;
  }
  return grantId !== null && allocations.some((one) => one.amount < 0 && one.grantId !== grantId)
    ? `the entry takes credits of another grant than ${grantId}, which was signed`
    : null;
};

/** Whether an entry says that the service booked it, because a document was given up. */
const isDocumentRefund = ({ data }: StoredEvent): boolean =>
  (data as { actor?: unknown } | null)?.actor === DOCUMENT_REFUND_ACTOR;

interface Causes {
  /** By stream and event id; `left`: credits that no entry has reversed. */
  readonly captures: Map<string, { readonly revision: bigint; readonly readingId: string; left: number }>;
  /** Documents that were given up, by the id of the entry that follows from it. */
  readonly failures: Map<string, Readonly<Record<'id' | 'readingId' | 'workspaceId', string>>>;
}

const causesOf = async (
  store: Pick<EventStore, 'read'>,
  entries: readonly StoredEvent[],
): Promise<Causes> => {
  const causes: Causes = { captures: new Map(), failures: new Map() };
  const streams = new Set<string>();
  const named = new Set<unknown>();
  for (const { stream, data } of entries.filter(isDocumentRefund)) {
    const { reversesEventId, reference } = data as Record<string, unknown>;
    named.add(reversesEventId);
    streams.add(stream);
    if (typeof reference === 'string' && reference !== '')
      streams.add(streamName(publicationEvents.category, reference));
  }
  for (const stream of streams) {
    let isPublished = false;
    for await (const stored of store.read(stream)) {
      const isNamed = stored.type === 'CreditsCaptured' && named.has(stored.id);
      const isOfPublication = categoryOf(stream) === publicationEvents.category;
      if (!isNamed && !isOfPublication) continue;
      const event = decodeOrShow(isNamed ? creditsEvents : publicationEvents, stored);
      if (isOpaque(event)) continue;
      isPublished ||= event.type === 'DocumentPublished';
      if (event.type === 'CreditsCaptured') {
        const { readingId, amount: left } = event.data;
        causes.captures.set(`${stream} ${event.id}`, { revision: event.revision, readingId, left });
      } else if (event.type === 'PublicationFailed' && isGivenUp(event.data) && !isPublished) {
        const [id, readingId, { workspaceId }] = [event.id, streamId(stream), event.data];
        const { adjustmentId } = documentRefund(readingId, id, '', 0);
        causes.failures.set(adjustmentId, { id, readingId, workspaceId });
      }
    }
  }
  return causes;
};

/** Why the entry is no refund that the service had to book; `null`: it is. */
const faultOfRefund = (entry: StoredEvent, data: Adjusted, causes: Causes): string | null => {
  // What the book works out from its own entries, `BookVerifier` checks.
  const { allocations: _, restores: __, counts: ___, ...facts } = data;
  const failure = causes.failures.get(data.adjustmentId);
  if (!failure) return 'no document was given up for this entry, and no two operators signed it';
  const { id, readingId, workspaceId } = failure;
  const capture = causes.captures.get(`${entry.stream} ${data.reversesEventId}`);
  const isOwn = capture?.readingId === readingId && workspaceId === streamId(entry.stream);
  if (!capture || !isOwn || capture.revision > entry.revision)
    return `the entry does not reverse the capture of reading ${readingId}, whose document was given up`;
  const expected = documentRefund(readingId, id, data.reversesEventId!, capture.left);
  const by = { approvedBy: DOCUMENT_REFUND, actor: DOCUMENT_REFUND_ACTOR };
  return capture.left > 0 && canonicalJson({ ...expected, ...by }) === canonicalJson(facts)
    ? null
    : `the entry is not the one that gives back the credits of reading ${readingId}, or it is booked twice`;
};
