import type {
  Batch,
  BatchAnswer,
  CreateDocumentLink,
  CreatedDocumentLink,
  CreateReading,
  DocumentLink,
  DocumentV1,
  Reading,
  ReadingHistoryEvent,
  ReadingSummary,
  Republication,
  Result,
  operations,
} from './api.js';
import { everything, type PageOptions } from './pages.js';
import { StillUnderWay } from './problem-error.js';
import { LookPauses, pauseFor, passingRefusal } from './repetition.js';
import { etagOf, type CallOptions, type PostOptions, type Transport } from './transport.js';

export type DocumentFormat = 'document_v1' | 'markdown' | 'pdf';

type ListQuery = NonNullable<operations['listReadings']['parameters']['query']>;
/** Which readings a list shows. Instants are RFC 3339. */
export type ReadingFilter = Omit<ListQuery, keyof PageOptions>;

/** Maximum seconds to hold a status request. The service allows more, but gateways might not. */
const LONGEST_HOLD = 20;
const UNTIL_DONE_MS = 10 * 60_000;

/** Readings: create one, wait for it, fetch the result and the document. */
export class Readings {
  constructor(private readonly transport: Transport) {}

  /**
   * Creates a reading and reserves its credits; the reading is returned as `queued`.
   * @param options.idempotencyKey your own, such as an order number; the same key and body never create a
   *   second reading
   */
  create(body: CreateReading, options: PostOptions = {}): Promise<Reading> {
    return this.transport.post('/api/v1/readings', body, options);
  }

  /**
   * Creates up to 1,000 readings with one reservation. `mode: 'all'` creates all of them or none; `'available'` as many as
   * are valid and paid for. Each item of the answer has the id of its reading, or its problem. `batchId` is null
   * when no reading was created.
   */
  createMany(
    readings: readonly CreateReading[],
    { mode, ...options }: PostOptions & { readonly mode: 'all' | 'available' },
  ): Promise<BatchAnswer> {
    const body = { mode, readings };
    return this.transport.post('/api/v1/readings/bulk', body, options);
  }

  /** How many readings of a batch are in each state, and when all had ended (`endedAt`). */
  batch(batchId: string, options: CallOptions = {}): Promise<Batch> {
    return this.transport.get(`/api/v1/batches/${encodeURIComponent(batchId)}`, options);
  }

  /** @param options.waitSeconds holds the request until the reading changes its state; at most 20 s */
  async get(
    readingId: string,
    { waitSeconds = 0, signal }: CallOptions & { readonly waitSeconds?: number } = {},
  ): Promise<Reading> {
    const held = Math.min(Math.ceil(waitSeconds), LONGEST_HOLD);
    const headers = held > 0 ? { prefer: `wait=${held}` } : {};
    return this.transport.json({ method: 'GET', path: pathOf(readingId), headers, held, signal });
  }

  /**
   * The reading, if it has changed.
   * @param seen the reading as you have it, from `get`
   * @returns `null` when it has not
   */
  getIfChanged(seen: Reading, { signal }: CallOptions = {}): Promise<Reading | null> {
    const headers = { 'if-none-match': etagOf(seen) };
    return this.transport.jsonIfChanged({ method: 'GET', path: pathOf(seen.readingId), headers, signal });
  }

  /**
   * Waits until the reading is published, failed or erased; check its `status`. A 429 or 503 does not end the wait.
   * @throws StillUnderWay after `timeoutMs`, ten minutes by default; its `cause` is the last refusal, if that came last
   */
  async waitUntilDone(
    readingId: string,
    { timeoutMs = UNTIL_DONE_MS, signal }: CallOptions & { readonly timeoutMs?: number } = {},
  ): Promise<Reading> {
    const deadline = Date.now() + timeoutMs;
    const given = signal ? { signal } : {};
    const pauses = new LookPauses();
    for (;;) {
      const waitSeconds = Math.max(0, (deadline - Date.now()) / 1_000);
      const seen = await this.get(readingId, { waitSeconds, ...given }).catch(passingRefusal);
      const isRefused = seen instanceof Error;
      if (!isRefused && hasEnded(seen)) return seen;
      const left = deadline - Date.now();
      if (left <= 0) throw stillUnderWay(readingId, seen);
      const pause = isRefused ? pauses.afterRefusal(seen) : pauses.afterLook(seen.status);
      await pauseFor(Math.min(pause, left), signal);
    }
  }

  /** The workspace's readings, newest first. */
  list(options: PageOptions & ReadingFilter = {}): AsyncGenerator<ReadingSummary> {
    return everything(this.transport, '/api/v1/readings', { ...options });
  }

  /** The events of a reading, oldest first. */
  history(readingId: string, options: PageOptions = {}): AsyncGenerator<ReadingHistoryEvent> {
    return everything(this.transport, `${pathOf(readingId)}/events`, { ...options });
  }

  /** The calculated numbers. */
  result(readingId: string, options: CallOptions = {}): Promise<Result> {
    return this.transport.get(`${pathOf(readingId)}/result`, options);
  }

  /** The document as a tree, as Markdown, or as the bytes of a PDF. */
  document(readingId: string, format: 'document_v1', options?: DocumentOptions): Promise<DocumentV1>;
  document(readingId: string, format: 'markdown', options?: DocumentOptions): Promise<string>;
  document(readingId: string, format: 'pdf', options?: DocumentOptions): Promise<Uint8Array>;
  async document(
    readingId: string,
    format: DocumentFormat,
    options: DocumentOptions = {},
  ): Promise<DocumentV1 | string | Uint8Array> {
    const response = await this.fetchDocument(readingId, format, options);
    if (format === 'document_v1') return (await response.json()) as DocumentV1;
    return format === 'markdown' ? response.text() : new Uint8Array(await response.arrayBuffer());
  }

  /**
   * The bytes of a document as they arrive, to pipe to a file or to your own caller. A failure after the first of them is
   * not retried: the stream ends with it.
   */
  async documentStream(
    readingId: string,
    format: DocumentFormat,
    options: DocumentOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.fetchDocument(readingId, format, { ...options, isStreamed: true });
    return body as ReadableStream<Uint8Array>;
  }

  /**
   * Publishes another version of the document, from the stored result and the current texts; it costs no credits. The
   * reading shows the version once it is published.
   * @param options.onlyIfTextsChanged makes none when the newest version has the current texts
   */
  republish(
    readingId: string,
    { onlyIfTextsChanged = false, ...options }: PostOptions & { readonly onlyIfTextsChanged?: boolean } = {},
  ): Promise<Republication> {
    const path = `${pathOf(readingId)}/document/republish`;
    return this.transport.post(path, { onlyIfTextsChanged }, options);
  }

  /**
   * Creates a link to the document: anyone with its `url` reads it without a key. An answer repeated for your own
   * idempotency key is without the `url`.
   */
  createLink(
    readingId: string,
    body: CreateDocumentLink,
    options: PostOptions = {},
  ): Promise<CreatedDocumentLink> {
    return this.transport.post(linksOf(readingId), body, options);
  }

  /** The links to the document, newest first, without their URLs. */
  links(readingId: string, options: PageOptions = {}): AsyncGenerator<DocumentLink> {
    return everything(this.transport, linksOf(readingId), { ...options });
  }

  /** Ends a link before its time. */
  revokeLink(readingId: string, linkId: string, options: CallOptions = {}): Promise<void> {
    return this.transport.delete(`${linksOf(readingId)}/${encodeURIComponent(linkId)}`, options);
  }

  /** Permanently destroys the reading's personal data. Requires a token with the scope `readings:write`. */
  erasePersonalData(readingId: string, options: CallOptions = {}): Promise<void> {
    return this.transport.delete(`${pathOf(readingId)}/personal-data`, options);
  }

  private fetchDocument(
    readingId: string,
    format: DocumentFormat,
    { version, ...options }: DocumentOptions & { readonly isStreamed?: boolean },
  ) {
    const path = `${pathOf(readingId)}/document`;
    return this.transport.send({ method: 'GET', path, query: { format, version }, ...options });
  }
}

export interface DocumentOptions extends CallOptions {
  /** The newest version by default. */
  readonly version?: number;
}

const hasEnded = ({ status, document, erasedAt }: Reading): boolean =>
  status === 'failed' || document.available || erasedAt !== null;

const stillUnderWay = (readingId: string, seen: Reading | Error): StillUnderWay =>
  seen instanceof Error
    ? new StillUnderWay(`Nobody knows whether reading ${readingId} has ended: ${seen.message}`, {
        cause: seen,
      })
    : new StillUnderWay(`Reading ${readingId} is still ${seen.status}`);

const pathOf = (readingId: string): string => `/api/v1/readings/${encodeURIComponent(readingId)}`;

const linksOf = (readingId: string): string => `${pathOf(readingId)}/document/links`;
