import type { Command } from 'commander';
import { resolve } from 'node:path';
import type { Pool } from 'pg';
import {
  creditsEvents,
  MOST_ENTRIES,
  type CorrectionEntry,
  type CreditsEventOf,
} from '#billing/contracts/index.js';
import { refundsOf, type Refunds } from '#billing/offline.js';
import { decodeOrShow, isOpaque, selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { installationOf } from '#platform/crypto/installation.js';
import { KeyDestroyed, splitKeyId } from '#platform/crypto/wrapping-keys.js';
import { DOCUMENT_FORMATS, publicationEvents } from '#publishing/contracts/index.js';
import { EraseReading, GetReadingSummary, readingEvents } from '#readings/contracts/index.js';
import { readMirror } from '../backup/mirror.js';
import { OpsError, print, tableOf, tell } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import {
  approvalOf,
  describeCorrection,
  entryOf,
  KEY_OPTION,
  propose,
  type Proposal,
} from './corrections.js';
import { example, someText } from './options.js';

/** After a restore: what customers paid and lost, and what must stay erased. */
const addReadingsCommands = (readings: Command): void => {
  readings
    .command('unreadable')
    .description('list paid readings that cannot be read; exit code 1 when one is not refunded in full')
    .addHelpText('after', example('readings unreadable --json | jq -r .readings[].readingId'))
    .action(async (_: object, command: Command) => {
      const found = await withSession(findUnreadable);
      const open = found.readings.filter(({ refunded }) => !refunded);
      const isBad = open.length + found.unknownKeys.length > 0;
      print(command, found, [list(found.readings), ...unknown(found)], isBad);
    });

  readings
    .command('refund [readingIds...]')
    .description('propose to refund readings that were paid and cannot be read, once each')
    .option('--all', 'every reading that ops readings unreadable lists')
    .requiredOption('--reason <text>', 'why; kept in the ledger permanently', someText)
    .option('--reference <text>', 'such as INC-42; default: from the readings', someText)
    .option('--yes', 'propose; without this, only show what would be refunded')
    .option(...KEY_OPTION)
    .addHelpText('after', example('readings refund --all --reason INC-42 --yes'))
    .action(async (ids: string[], options: RefundOptions, command: Command) => {
      if ((ids.length === 0) === (options.all === undefined))
        throw new OpsError('Name the readings, or refund --all.');
      const answer = await withSession((session) => refund(session, ids, options), HARMLESS_TO_REPEAT);
      const { refunds, credits, proposal } = answer;
      const next = proposal
        ? `\n${describeCorrection(proposal.correction)}\nAnother operator approves it: ${approvalOf(proposal.correction)}`
        : 'Add --yes to propose it.';
      const listed = tableOf(refunds, { reading: 'readingId', credits: 'amount', outcome: 'outcome' });
      const text = `${listed}\n${credits} credits to refund.${credits > 0 ? ` ${next}` : ''}`;
      print(command, answer, text);
    });

  readings
    .command('erase-again')
    .description('record erasures again that a restored log lacks')
    .requiredOption('--keys <folder>', 'the mirror of keys, or the folder erased beside backups', someText)
    .option('--yes', 'erase; without this, only show what would be erased')
    .addHelpText('after', example('readings erase-again --keys /keys-mirror --yes'))
    .action(async ({ keys, yes }: { keys: string; yes?: true }, command: Command) => {
      const erasures = await withSession(async ({ config, commands, queries, actor }) => {
        const { erased } = readMirror(resolve(keys), installationOf(config));
        const again: string[] = [];
        for (const { readingId, workspaceId } of erased) {
          const found = await queries.execute(new GetReadingSummary(readingId));
          if (!found || found.erasedAt !== null) continue;
          again.push(readingId);
          if (yes) await commands.execute(new EraseReading(readingId, workspaceId, ownRequest(actor)));
        }
        return again;
      }, HARMLESS_TO_REPEAT);
      const text = `${yes ? 'Erased again' : 'Would erase again'}: ${erasures.length} readings.`;
      print(command, { erasures, outcome: yes ? 'erased' : 'not_erased' }, text);
      if (!yes && erasures.length > 0) tell('Add --yes to do it.');
    });
};

const list = (readings: readonly UnreadableReading[]): string =>
  readings.length === 0
    ? 'Every paid reading can be read, or was erased.'
    : tableOf(readings, {
        reading: 'readingId',
        workspace: 'workspaceId',
        credits: 'amount',
        captured: 'capturedAt',
        lost: ({ cause, missingFormats }) => (cause === 'key' ? 'key' : missingFormats.join(', ')),
        refunded: 'givenBack',
        'to refund': creditsToRefund,
      });

const unknown = ({ unknownKeys, passedOver }: Unreadable): readonly string[] => [
  ...unknownKeys.map(
    (id) => `Not decided: what the key ${id} wraps, because it cannot be opened now (ops keys status).`,
  ),
  ...passedOver.map((event) => `Passed over: ${event}, which is set aside or cannot be read.`),
];

interface RefundOptions {
  readonly key?: string;
  readonly all?: true;
  readonly reason: string;
  readonly reference?: string;
  readonly yes?: true;
}

type Refund = Pick<UnreadableReading, 'readingId' | 'workspaceId' | 'amount'> & {
  readonly outcome: 'not_refunded' | 'proposed' | 'already_refunded';
};

const refund = async (session: Session, ids: readonly string[], options: RefundOptions) => {
  const { readings } = await findUnreadable(session);
  const unfound = ids.filter((id) => !readings.some(({ readingId }) => readingId === id));
  if (unfound.length > 0)
    throw new OpsError(
      `${unfound[0]} can be read, was erased, or was never paid: it is not refunded. Nothing changed.`,
    );
  const chosen = readings.filter(({ readingId }) => ids.length === 0 || ids.includes(readingId));
  const open = chosen.filter(({ refunded }) => !refunded);
  const proposal = options.yes && open.length > 0 ? await proposeRefund(session, open, options) : null;
  const refunds = chosen.map((reading): Refund => {
    const { readingId, workspaceId, refunded } = reading;
    if (refunded) return { readingId, workspaceId, amount: 0, outcome: 'already_refunded' };
    const amount = creditsToRefund(reading);
    return { readingId, workspaceId, amount, outcome: proposal ? 'proposed' : 'not_refunded' };
  });
  return { refunds, credits: refunds.reduce((sum, { amount }) => sum + amount, 0), proposal };
};

const proposeRefund = async (
  session: Session,
  readings: readonly UnreadableReading[],
  options: RefundOptions,
): Promise<Proposal> => {
  const content = { kind: 'reading_refund' as const, ...refundOf(readings, options) };
  const proposal = await propose(session, '', content, options.key);
  if (proposal.correction.status === 'booked')
    throw new OpsError(
      `A correction with the reference ${content.reference} is booked. Choose another reference. Nothing was proposed.`,
    );
  return proposal;
};

/** A reading whose credits were captured, and which its customer cannot read. */
interface UnreadableReading extends Refunds {
  readonly readingId: string;
  readonly workspaceId: string;
  /** Credits that were captured. */
  readonly amount: number;
  /** RFC 3339. */
  readonly capturedAt: string;
  /** Id of the CreditsCaptured. */
  readonly captureEventId: string;
  /** `key`: nothing of it opens. `document`: the result can be read, a format is lost or could not be made. */
  readonly cause: 'key' | 'document';
  readonly missingFormats: readonly string[];
  /** Nothing is left to refund. */
  readonly refunded: boolean;
}

interface Unreadable {
  readonly readings: readonly UnreadableReading[];
  /** Keys of epochs whose keeper does not answer, or has lost them: nothing is known of what they wrap. */
  readonly unknownKeys: readonly string[];
  /** Events of payments and documents that do not count: set aside, or unreadable. `<stream>@<revision> (<type>)`. */
  readonly passedOver: readonly string[];
}

type Captured = Pick<UnreadableReading, 'workspaceId' | 'amount' | 'capturedAt' | 'captureEventId'>;

const FOLLOWED = [
  selectEvents(creditsEvents, 'CreditsCaptured', 'CreditsAdjusted'),
  selectEvents(readingEvents, 'ReadingErased'),
  selectEvents(publicationEvents, 'DocumentPublished', 'PublicationFailed'),
] as const;

/** What the log says of paid readings. */
class PaidReadings {
  readonly captured = new Map<string, Captured>();
  readonly erased = new Set<string>();
  /** Of the newest version, as `<version>/<format>`. */
  readonly formats = new Map<string, readonly string[]>();
  /** By the entry that they reverse. */
  readonly corrections = new Map<string, Recorded<CreditsEventOf<'CreditsAdjusted'>>[]>();
  readonly passedOver: string[] = [];

  /** An event that cannot be read, or is set aside, is no payment: nothing is refunded for it. */
  see(stored: StoredEvent): void {
    const catalogue = FOLLOWED.find(({ category }) => category === categoryOf(stored.stream));
    if (!catalogue || !Object.hasOwn(catalogue.definitions, stored.type)) return;
    const event = decodeOrShow<(typeof FOLLOWED)[number]>(catalogue, stored);
    if (isOpaque(event)) {
      this.passedOver.push(`${stored.stream}@${stored.revision} (${stored.type})`);
      return;
    }
    const { id: captureEventId, metadata } = event;
    const id = streamId(event.stream);
    switch (event.type) {
      case 'CreditsCaptured': {
        const { readingId, amount } = event.data;
        const { workspaceId, occurredAt: capturedAt } = metadata;
        this.captured.set(readingId, { workspaceId, amount, capturedAt, captureEventId });
        return;
      }
      case 'CreditsAdjusted': {
        const { reversesEventId } = event.data;
        if (reversesEventId === null) return;
        const others = this.corrections.get(reversesEventId) ?? [];
        this.corrections.set(reversesEventId, [...others, event]);
        return;
      }
      case 'ReadingErased':
        this.erased.add(id);
        return;
      case 'DocumentPublished':
      case 'PublicationFailed': {
        // Paid, and never made. A later version that failed leaves the one before.
        if (event.type === 'PublicationFailed' && this.formats.has(id)) return;
        const made =
          event.type === 'PublicationFailed'
            ? DOCUMENT_FORMATS
            : event.data.formats.map(({ format }) => format);
        this.formats.set(
          id,
          made.map((format) => `${event.data.version}/${format}`),
        );
      }
    }
  }
}

const PAGE = 5_000;

/** A key or a document is missing although nobody erased it, as after a restore of an older PostgreSQL. */
export const findUnreadable = async ({
  store,
  pool,
  keys,
}: Pick<Session, 'store' | 'pool' | 'keys'>): Promise<Unreadable> => {
  const paid = new PaidReadings();
  const head = await store.head();
  const categories = FOLLOWED.map(({ category }) => category);
  for await (const event of store.readAll({ categories })) {
    if (head === null || event.position > head) break;
    paid.see(event);
  }
  const readings: UnreadableReading[] = [];
  const wrapping = new Map<string, Standing>();
  const ids = [...paid.captured.keys()].filter((readingId) => !paid.erased.has(readingId));
  for (let start = 0; start < ids.length; start += PAGE) {
    const page = ids.slice(start, start + PAGE);
    const stored = await storedParts(pool, page);
    for (const readingId of page) {
      const { wrapped, formats } = stored.get(readingId)!;
      const standing = wrapped === null ? 'lost' : await standingOf(keys, wrapping, wrapped);
      if (standing === 'unknown') continue;
      const missingFormats = (paid.formats.get(readingId) ?? [])
        .filter((one) => !formats.includes(one))
        .map((one) => one.slice(one.indexOf('/') + 1));
      const cause = standing === 'lost' ? 'key' : missingFormats.length > 0 ? 'document' : null;
      // An erasure may have been recorded since the log was read.
      if (cause === null || (await isErased(store, readingId))) continue;
      const { captureEventId, ...captured } = paid.captured.get(readingId)!;
      const refunds = refundsOf({ eventId: captureEventId, amount: captured.amount }, paid.corrections);
      const refunded = refunds.toRefund.length === 0;
      readings.push({ readingId, ...captured, captureEventId, cause, missingFormats, ...refunds, refunded });
    }
  }
  const unknownKeys = [...wrapping].flatMap(([id, standing]) => (standing === 'unknown' ? [id] : []));
  return { readings, unknownKeys, passedOver: paid.passedOver };
};

type Standing = 'open' | 'lost' | 'unknown';

/** Whether the key that wraps a data key still opens. Each is asked once, and then known. */
const standingOf = async (
  keys: EpochKeys,
  known: Map<string, Standing>,
  wrapped: Buffer,
): Promise<Standing> => {
  const { id } = splitKeyId(wrapped);
  const ask = (): Promise<Standing> =>
    keys.named(id).then(
      () => 'open',
      (error: unknown) => (error instanceof KeyDestroyed ? 'lost' : 'unknown'),
    );
  const standing = known.get(id) ?? (await ask());
  known.set(id, standing);
  return standing;
};

interface StoredParts {
  readonly wrapped: Buffer | null;
  readonly formats: readonly string[];
}

const storedParts = async (pool: Pool, ids: readonly string[]): Promise<Map<string, StoredParts>> => {
  const { rows } = await pool.query<StoredParts & { id: string }>(
    `select id, key.wrapped_key as wrapped,
            array(select version || '/' || format from publishing.artifact where reading_id = id) as formats
     from unnest($1::uuid[]) as id left join platform.subject_key key on key.subject_id = id`,
    [ids],
  );
  return new Map(rows.map(({ id, ...parts }) => [id, parts]));
};

/** Whether the stream of a reading says that it was erased. */
export const isErased = async (store: EventStore, readingId: string): Promise<boolean> => {
  for await (const event of store.read(`reading-${readingId}`, { direction: 'backwards', limit: 3 }))
    if (event.type === 'ReadingErased' && !isOpaque(decodeOrShow(readingEvents, event))) return true;
  return false;
};

/** What is left to refund of a reading. */
const creditsToRefund = ({ toRefund }: Pick<UnreadableReading, 'toRefund'>): number =>
  toRefund.reduce((sum, { amount }) => sum + amount, 0);

/** A repeated command names the same correction; another one once a refund was taken back. @throws OpsError for too many */
export const refundOf = (
  readings: readonly UnreadableReading[],
  given: { readonly reason: string; readonly reference?: string },
): { readonly reason: string; readonly reference: string; readonly entries: CorrectionEntry[] } => {
  const { reason } = given;
  const seen = readings.map(({ readingId, corrections }) => [readingId, ...corrections].join('/'));
  const reference = given.reference ?? `refund-${uuid5(...seen)}`;
  const entries = readings.flatMap(({ readingId, workspaceId, cause, toRefund }) => {
    const why = `Refund of reading ${readingId}, whose ${cause} is lost: ${reason}`;
    return toRefund.map((one) => entryOf({ ...one, workspaceId, reason: why, reference }));
  });
  if (entries.length > MOST_ENTRIES)
    throw new OpsError(
      `${readings.length} readings need ${entries.length} entries, and one correction has ${MOST_ENTRIES} at most: name fewer.`,
    );
  return { reason, reference, entries };
};

const addEraseCommand = (erase: Command): void => {
  erase
    .argument('<readingId>', 'the reading')
    .option('--yes', 'erase; without this, only show what would be erased')
    .addHelpText('after', example('erase 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --yes --json'))
    .action(async (readingId: string, options: { yes?: boolean }, command: Command) => {
      const answer = await withSession(async ({ commands, queries, actor }) => {
        const found = await queries.execute(new GetReadingSummary(readingId));
        if (!found) throw new OpsError(`There is no reading ${readingId}.`);
        const { workspaceId, status, erasedAt } = found;
        const { outcome } = options.yes
          ? await commands.execute(new EraseReading(readingId, workspaceId, ownRequest(actor)))
          : { outcome: 'not_erased' as const };
        return { readingId, workspaceId, status, erasedAt, outcome };
      });
      print(command, answer, sentence(answer));
    });
};

const sentence = ({
  outcome,
  readingId,
  workspaceId,
  status,
}: Record<'outcome' | 'readingId' | 'workspaceId' | 'status', string>): string => {
  if (outcome === 'erased')
    return `Erased: the service can no longer read the personal data of ${readingId}. For backups, see docs/operations.md.`;
  if (outcome === 'already_erased') return 'Already erased.';
  const isOpen = status === 'queued' || status === 'processing';
  const consequence = isOpen ? ' The reading would fail and release its credits.' : '';
  return `Would erase the personal data of ${readingId} (${status}, ${workspaceId}).${consequence} Add --yes to do it.`;
};

export const commands = { erase: addEraseCommand, readings: addReadingsCommands };
