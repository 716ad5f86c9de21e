import type {
  ApiKey,
  ApiKeys,
  Credits,
  EventPage,
  IssueApiKey,
  IssuedApiKey,
  Notice,
  OpenedPortalSession,
  OpenPortalSession,
  PortalSession,
  PublicEvent,
  RotateApiKey,
  RotatedApiKey,
} from './api.js';
import { everything, type PageOptions } from './pages.js';
import { Readings } from './readings.js';
import { Transport, type CallOptions, type ClientOptions, type PostOptions } from './transport.js';
import { Webhooks } from './webhooks.js';

/**
 * A client of the reading service. Every call retries transient failures (408, 429, 500, 502, 503, 504,
 * no response) after the time the service asks for. A call throws `ProblemError` when the service refuses it.
 */
export class ReadingServiceClient {
  readonly readings: Readings;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly keys: Keys;
  readonly portal: Portal;
  private readonly transport: Transport;

  /** @throws TypeError without a credential (`apiKey` or `token`), or for an option that is not valid */
  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    this.readings = new Readings(this.transport);
    this.webhooks = new Webhooks(this.transport);
    this.events = new Events(this.transport);
    this.keys = new Keys(this.transport);
    this.portal = new Portal(this.transport);
  }

  /** The available and the reserved credits, and the grants they come from. */
  credits(options: CallOptions = {}): Promise<Credits> {
    return this.transport.get('/api/v1/credits', options);
  }
}

interface FeedFilter<T> {
  /** One type or several; all by default. */
  readonly type?: T | readonly T[];
  /** Of live or of test mode; only with a bearer token, since a key sees its own mode. */
  readonly livemode?: boolean;
}
export type EventFilter = FeedFilter<PublicEvent['type']>;
export type NoticeFilter = FeedFilter<Notice['type']>;

/** A page of a feed. `nextCursor` is never null. */
export type PageOf<T> = Omit<EventPage, 'data'> & { readonly data: T[] };

/** Every type of notice: what a page of notices asks for by default. */
const NOTICE_TYPES = Object.keys({
  'batch.ended': true,
  'credits.expiring': true,
  'credits.low': true,
  'endpoint.disabled': true,
  'endpoint.failing': true,
  'key.expiring': true,
  'replay.finished': true,
} satisfies Record<Notice['type'], true>) as Notice['type'][];

/** The events that webhooks deliver, to fetch instead of webhooks or in addition. */
export class Events {
  constructor(private readonly transport: Transport) {}

  /** One page, oldest first. Store `nextCursor` and pass it to the next call: no event is skipped or repeated. */
  page({ signal, ...query }: PageOptions & EventFilter = {}): Promise<PageOf<PublicEvent>> {
    return this.transport.get('/api/v1/events', { signal }, query);
  }

  /** One event or notice, as its webhooks have it. @throws ProblemError `no_longer_kept` once events are deleted after their term */
  get(eventId: string, options: CallOptions = {}): Promise<PublicEvent | Notice> {
    return this.transport.get(`/api/v1/events/${encodeURIComponent(eventId)}`, options);
  }

  /** One page of what the workspace was told besides events, or would have been, oldest first. Its cursors are its own. */
  notices({ signal, type = NOTICE_TYPES, ...query }: PageOptions & NoticeFilter = {}): Promise<
    PageOf<Notice>
  > {
    return this.transport.get('/api/v1/events', { signal }, { ...query, type });
  }
}

/**
 * API keys of the workspace. Requires a token with the scopes `keys:read` and `keys:write`, or an API key with
 * `keys:write`.
 */
export class Keys {
  constructor(private readonly transport: Transport) {}

  /** One page, newest first. */
  page({ signal, ...query }: PageOptions = {}): Promise<ApiKeys> {
    return this.transport.get('/api/v1/keys', { signal }, query);
  }

  /** All keys; fetches every page. */
  async list({ signal }: CallOptions = {}): Promise<readonly ApiKey[]> {
    const keys: ApiKey[] = [];
    const pages = everything<ApiKey>(this.transport, '/api/v1/keys', { signal, limit: 100 });
    for await (const key of pages) keys.push(key);
    return keys;
  }

  /**
   * `apiKey` is shown only once. If it is missing, the response that had it was lost: revoke the key and
   * issue another.
   */
  issue(body: IssueApiKey = {}, options: PostOptions = {}): Promise<IssuedApiKey> {
    return this.transport.post('/api/v1/keys', body, options);
  }

  /**
   * Issues a key in place of another one, which works for `overlapSeconds` more (a day by default). `apiKey` is shown
   * only once, as with `issue`.
   */
  rotate(keyId: string, body: Partial<RotateApiKey> = {}, options: PostOptions = {}): Promise<RotatedApiKey> {
    const path = `/api/v1/keys/${encodeURIComponent(keyId)}/rotate`;
    return this.transport.post(path, body, options);
  }

  revoke(keyId: string, options: CallOptions = {}): Promise<void> {
    return this.transport.delete(`/api/v1/keys/${encodeURIComponent(keyId)}`, options);
  }
}

const SESSIONS = '/api/v1/portal/sessions';

/** Sessions of the workspace portal. Requires an API key with the scope `portal:write`. */
export class Portal {
  constructor(private readonly transport: Transport) {}

  /**
   * Opens a session: send the person's browser to `url`, which works once within 60 seconds. It is missing from the answer
   * to a repeated request with your own key.
   */
  open(
    body: Pick<OpenPortalSession, 'scopes'> & Partial<OpenPortalSession>,
    options: PostOptions = {},
  ): Promise<OpenedPortalSession> {
    return this.transport.post(SESSIONS, body, options);
  }

  /** The sessions of the workspace, newest first, without their links. */
  list(options: PageOptions = {}): AsyncGenerator<PortalSession> {
    return everything(this.transport, SESSIONS, { ...options });
  }

  /** Ends a session before its time. */
  end(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.transport.delete(`${SESSIONS}/${encodeURIComponent(sessionId)}`, options);
  }
}
