import { Inject, Injectable } from '@nestjs/common';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Pool, QueryConfig } from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { Digester } from '#platform/crypto/digest.js';
import { SealBroken } from '#platform/crypto/sealing.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { KeyNotHeld } from '#platform/crypto/wrapping-keys.js';
import { askedTogether } from '#platform/postgres/asked-together.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { isUuid } from '#platform/text/uuid.js';
import { readingEvents } from '../contracts/events.js';
import {
  AsksForRefusal,
  CountReadings,
  GetExternalId,
  GetPublicationTime,
  GetReadingResult,
  GetReadingSummary,
  type ReadingsOfDay,
  type ReadingStatus,
  type ReadingSummary,
} from '../contracts/messages.js';
import { historyEvent, type HistoryEvent } from '../domain/reading-history.js';
import type { ReadingInput } from '../domain/reading-input.js';
import { askedOutcome } from '../domain/test-outcome.js';
import { foldReading, SHOWN_COLUMNS, type ShownRow } from '../projections.js';
import { externalIdLookup, openInput, openResult } from '../sealed-reading.js';

/** Which readings of a workspace a list shows; `null`: all. Instants are canonical. */
export interface ListFilters {
  readonly status: ReadingStatus | null;
  readonly externalId: string | null;
  readonly createdSince: string | null;
  /** The first instant after those that are shown. */
  readonly createdUntil: string | null;
}

/**
 * SQL: readings of a workspace, newest first. A filter that is not given is not in the text, so that each list has the
 * plan of its own filters.
 * @param among only these; `null`: all
 * @param after `createdAt` and `readingId` of the last reading before the page
 */
export const selectPage = (
  columns: string,
  workspaceId: string,
  livemode: boolean,
  { status, createdSince, createdUntil }: Omit<ListFilters, 'externalId'>,
  among: readonly string[] | null,
  limit: number,
  after: readonly string[] | null,
): QueryConfig => {
  const values: unknown[] = [];
  const given = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    `workspace_id = ${given(workspaceId)}`,
    livemode ? 'livemode' : 'not livemode',
    ...(status === null ? [] : [`status = ${given(status)}`]),
    ...(createdSince === null ? [] : [`created_at >= ${given(createdSince)}::timestamptz`]),
    ...(createdUntil === null ? [] : [`created_at < ${given(createdUntil)}::timestamptz`]),
    ...(after === null
      ? []
      : [`(created_at, reading_id) < (${given(after[0])}::timestamptz, ${given(after[1])}::uuid)`]),
    ...(among === null ? [] : [`reading_id = any (${given(among)}::uuid[])`]),
  ];
  const page = `order by created_at desc, reading_id desc limit ${given(limit)}`;
  const select = `select ${columns} from readings.reading where ${conditions.join(' and ')}`;
  // Materialized, so that no plan walks the list of the workspace to find these. An index has all others in this order.
  const text =
    among === null
      ? `${select} ${page}`
      : `with found as materialized (${select}) select * from found ${page}`;
  return { text, values };
};

/** With more readings than this of an external id, a page looks for them among the next readings of the list instead. */
const FEW = 1_000;
/** Readings that such a page looks at: of many that have another id, it shows fewer than it may, or none. */
const SCANNED = 1_000;

/** SQL: subjects of an external id, at most one more than few. Materialized: no plan looks through all keys for the first. */
const SUBJECTS_WITH = `
  with found as materialized (select subject_id from platform.subject_key where lookups @> array[$1::bytea])
  select subject_id as id from found limit ${FEW + 1}`;
/** SQL: those of an external id among the subjects of $2. */
const SUBJECTS_AMONG = `
  select subject_id as id from platform.subject_key where subject_id = any ($2::uuid[]) and lookups @> array[$1::bytea]`;

const RESULT_COLUMNS = 'reading_id, workspace_id as "workspaceId", livemode, sealed_result as "sealedResult"';

interface SealedResult {
  readonly reading_id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly sealedResult: string;
}

/** `input` is `null` once the personal data was erased. */
interface OpenedReading {
  readonly row: ShownRow;
  readonly input: ReadingInput | null;
}

/** As the database returns it. */
type Row = { [C in keyof ShownRow]: ShownRow[C] | Date };

const AHEAD_OF_ROW = 10_000;
/** How long an erasure waits for its own projection, and how often it checks (ms). */
const OWN_PROJECTION_MS = 750;
const OWN_PROJECTION_POLL_MS = 15;

@Injectable()
export class ReadingQuery {
  /** Each long poll looks at its row several times a second. */
  private readonly row = askedTogether(async (readingIds: readonly string[]) =>
    (await this.rowsOf<Row>('reading', SHOWN_COLUMNS, readingIds)).map((row) => row && withInstants(row)),
  );
  private readonly resultRow = askedTogether((readingIds: readonly string[]) =>
    this.rowsOf<SealedResult>('result', RESULT_COLUMNS, readingIds),
  );
  /** Readings that this process has answered from their streams with a status after `queued`. */
  private readonly aheadOfRow = new LRUCache<string, true>({ max: AHEAD_OF_ROW });

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly keys: SubjectKeys,
    private readonly digester: Digester,
  ) {}

  /**
   * Reads the row, or the reading's own stream if the row is missing. After an answer from the stream, the stream is
   * read until the row has caught up. A failed reading therefore never looks queued again to the caller.
   */
  async find(readingId: string): Promise<ShownRow | null> {
    if (!isUuid(readingId)) return null;
    const row = await this.row(readingId);
    const isBehind = row?.status === 'queued' || row?.status === 'processing';
    if (row && !(isBehind && this.aheadOfRow.get(readingId))) return row;
    return this.fold(readingId);
  }

  /**
   * Readings of a workspace, newest first, after the end of the page before (`createdAt`, `readingId`). One found by an
   * external id may have another: requests that were not accepted leave theirs with the key.
   * @returns `after`: where the list goes on, when fewer than `limit` were found among those looked at; `null`: it ends
   */
  async page(
    workspaceId: string,
    livemode: boolean,
    filters: ListFilters,
    limit: number,
    after: readonly string[] | null,
  ): Promise<{ readonly readings: readonly OpenedReading[]; readonly after: readonly string[] | null }> {
    const lookup =
      filters.externalId === null ? null : externalIdLookup(this.digester, workspaceId, filters.externalId);
    const select = async (columns: string, among: readonly string[] | null, most: number) =>
      (await this.pool.query<Row>(selectPage(columns, workspaceId, livemode, filters, among, most, after)))
        .rows;
    let among = lookup && (await this.subjects(SUBJECTS_WITH, lookup));
    let end: Row | undefined;
    if (lookup && among && among.length > FEW) {
      const looked = await select('reading_id, created_at', null, SCANNED);
      if (looked.length === SCANNED) end = looked.at(-1);
      const ids = looked.map((row) => row.reading_id);
      among = await this.subjects(SUBJECTS_AMONG, lookup, ids);
    }
    const rows = await select(SHOWN_COLUMNS, among, limit);
    const readings = await Promise.all(
      // A search must not say that there is no such reading, when this process alone cannot tell.
      rows.map(withInstants).map(async (row) => ({
        row,
        input: await (lookup === null ? this.soundInput(row) : this.unbrokenInput(row)),
      })),
    );
    if (end === undefined || rows.length >= limit) return { readings, after: null };
    const { created_at: createdAt, reading_id: readingId } = withInstants(end);
    return { readings, after: [createdAt, readingId] };
  }

  private async subjects(text: string, ...values: readonly unknown[]): Promise<readonly string[]> {
    return (await this.pool.query<{ id: string }>(text, [...values])).rows.map(({ id }) => id);
  }

  /** The newest test reading of a workspace whose documents can be fetched. */
  async newestPublishedTest(workspaceId: string): Promise<ShownRow | null> {
    const { rows } = await this.pool.query<Row>(
      `select ${SHOWN_COLUMNS} from readings.reading
       where workspace_id = $1 and not livemode and document_version is not null and erased_at is null
       order by created_at desc, reading_id desc limit 1`,
      [workspaceId],
    );
    return rows[0] ? withInstants(rows[0]) : null;
  }

  /** Waits a short time until the row shows the caller's own erasure. */
  async untilErased(readingId: string): Promise<void> {
    const givesUpAt = performance.now() + OWN_PROJECTION_MS;
    while (performance.now() < givesUpAt) {
      if ((await this.row(readingId))?.erased_at) return;
      await delay(OWN_PROJECTION_POLL_MS);
    }
  }

  /**
   * A reading with its input. An erasure destroys the key before the row shows it, but after the stream has it: without a
   * key, the stream decides. So nobody sees a reading without its input that looks as if it was not erased.
   */
  async opened(row: ShownRow): Promise<OpenedReading> {
    const input = await this.input(row);
    if (input !== null || row.erased_at !== null) return { row, input };
    return { row: (await this.fold(row.reading_id)) ?? row, input };
  }

  /** Opens the input with the reading's key; `null` when the key was destroyed. */
  async input(row: ShownRow): Promise<ReadingInput | null> {
    if (row.erased_at !== null) return null;
    const key = await this.keys.find(row.reading_id);
    return key && openInput(key, row.sealed_input);
  }

  /** The same for many readings: one that does not open must not stop the others. The reading itself reports it. */
  async soundInput(row: ShownRow): Promise<ReadingInput | null> {
    try {
      return await this.unbrokenInput(row);
    } catch (error) {
      if (error instanceof KeyNotHeld) return null;
      throw error;
    }
  }

  /**
   * The input; `null` also when nothing can ever open it.
   * @throws KeysUnavailable while another process may open it: what depends on the input waits
   */
  async unbrokenInput(row: ShownRow): Promise<ReadingInput | null> {
    try {
      return await this.input(row);
    } catch (error) {
      if (error instanceof SealBroken) return null;
      throw error;
    }
  }

  /**
   * The events of a reading, oldest first. Reads the stream from its beginning: it is short, and abandoned reservations
   * do not count as entries.
   * @param from index of the first entry wanted
   * @param limit most entries to return
   */
  async history(readingId: string, from: number, limit: number): Promise<readonly HistoryEvent[]> {
    const entries: HistoryEvent[] = [];
    for await (const stored of this.store.read(streamName(readingEvents.category, readingId))) {
      const event = historyEvent(decodeOrShow(readingEvents, stored), entries.length);
      if (event) entries.push(event);
      if (entries.length === from + limit) break;
    }
    return entries.slice(from);
  }

  /** The bytes of `/result`; `null` until completed, or once erased. */
  async result(readingId: string): Promise<{ bytes: Buffer; workspaceId: string; livemode: boolean } | null> {
    if (!isUuid(readingId)) return null;
    const stored = (await this.resultRow(readingId)) ?? (await this.resultEvent(readingId));
    const key = stored && (await this.keys.find(readingId));
    if (!stored || !key) return null;
    const { workspaceId, livemode, sealedResult } = stored;
    return { bytes: openResult(key, sealedResult), workspaceId, livemode };
  }

  /** The rows of a table of readings with these ids, in their order. */
  private async rowsOf<R extends { readonly reading_id: string | Date }>(
    table: 'reading' | 'result',
    columns: string,
    readingIds: readonly string[],
  ): Promise<readonly (R | undefined)[]> {
    const { rows } = await this.pool.query<R>({
      name: `readings.${table} by id`,
      text: `select ${columns} from readings.${table} where reading_id = any($1::uuid[])`,
      values: [readingIds],
    });
    const byId = new Map(rows.map((row) => [row.reading_id, row]));
    return readingIds.map((readingId) => byId.get(readingId));
  }

  /** While the row is missing, the stream's last event has the result, unless the reading was erased since. */
  private async resultEvent(readingId: string): Promise<SealedResult | null> {
    const newestFirst = this.store.read(streamName(readingEvents.category, readingId), {
      direction: 'backwards',
    });
    for await (const stored of newestFirst) {
      const event = decodeOrShow(readingEvents, stored);
      if (isOpaque(event)) continue;
      if (event.type === 'ReadingErased') return null;
      if (event.type !== 'ReadingCompleted') continue;
      const { workspaceId, livemode, sealedResult } = event.data;
      return { reading_id: readingId, workspaceId, livemode, sealedResult };
    }
    return null;
  }

  /** As its stream shows it, which the row may do later. */
  private async fold(readingId: string): Promise<ShownRow | null> {
    const events = [];
    for await (const stored of this.store.read(streamName(readingEvents.category, readingId))) {
      const event = decodeOrShow(readingEvents, stored);
      if (!isOpaque(event)) events.push(event);
    }
    const folded = foldReading(events);
    if (folded && folded.status !== 'queued') this.aheadOfRow.set(readingId, true);
    return folded;
  }
}

const withInstants = (row: Row): ShownRow =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as unknown as ShownRow;

@QueryHandler(GetReadingSummary)
export class GetReadingSummaryHandler implements IQueryHandler<GetReadingSummary> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetReadingSummary): Promise<ReadingSummary | null> {
    const found = await this.readings.find(readingId);
    if (!found) return null;
    const { workspace_id: workspaceId, livemode, status, locale } = found;
    const { erased_at: erasedAt, document_version: documentVersion } = found;
    return { readingId, workspaceId, livemode, status, locale, erasedAt, documentVersion };
  }
}

@QueryHandler(GetReadingResult)
export class GetReadingResultHandler implements IQueryHandler<GetReadingResult> {
  constructor(private readonly readings: ReadingQuery) {}

  execute({ readingId }: GetReadingResult) {
    return this.readings.result(readingId);
  }
}

@QueryHandler(GetExternalId)
export class GetExternalIdHandler implements IQueryHandler<GetExternalId> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetExternalId): Promise<string | null> {
    const found = await this.readings.find(readingId);
    const input = found && (await this.readings.unbrokenInput(found));
    return input?.externalId ?? null;
  }
}

@QueryHandler(GetPublicationTime)
export class GetPublicationTimeHandler implements IQueryHandler<GetPublicationTime> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetPublicationTime): Promise<string | null> {
    const found = await this.readings.find(readingId);
    if (!found || found.livemode) return null;
    const outcome = askedOutcome((await this.readings.input(found))?.metadata);
    // Its row may be a moment behind its result.
    const from = Date.parse(found.completed_at ?? found.created_at);
    return outcome?.kind === 'publication_late' ? instant(from + outcome.byMs) : null;
  }
}

@QueryHandler(AsksForRefusal)
export class AsksForRefusalHandler implements IQueryHandler<AsksForRefusal> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId, attempt }: AsksForRefusal): Promise<boolean> {
    const found = await this.readings.find(readingId);
    if (!found || found.livemode) return false;
    const outcome = askedOutcome((await this.readings.soundInput(found))?.metadata);
    return outcome?.kind === 'webhook_refused' && attempt <= (outcome.attempts ?? attempt);
  }
}

/** Half a million readings take a second to count. A count is kept for so many times what it took: a twentieth of a core. */
const KEPT_TIMES = 20;
const WORKSPACES_COUNTED = 1_000;

@QueryHandler(CountReadings)
export class CountReadingsHandler implements IQueryHandler<CountReadings> {
  private readonly counts = new LRUCache<string, readonly ReadingsOfDay[], CountReadings>({
    max: WORKSPACES_COUNTED,
    fetchMethod: async (_key, _stale, { context, options }) => {
      const startedAt = performance.now();
      const counted = await this.count(context);
      options.ttl = Math.ceil(KEPT_TIMES * (performance.now() - startedAt));
      return counted;
    },
  });

  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async execute(asked: CountReadings): Promise<readonly ReadingsOfDay[]> {
    const key = `${asked.workspaceId} ${asked.livemode} ${asked.since}`;
    return this.counts.forceFetch(key, { context: asked });
  }

  private async count({ workspaceId, livemode, since }: CountReadings): Promise<readonly ReadingsOfDay[]> {
    const { rows } = await this.pool.query<ReadingsOfDay>(
      `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as readings
       from readings.reading
       where workspace_id = $1 and ${livemode ? 'livemode' : 'not livemode'} and created_at >= $2
       group by day order by day`,
      [workspaceId, since],
    );
    return rows;
  }
}
