import type { ApiKey, ApiKeys, Credits, EventPage, IssueApiKey, IssuedApiKey, PublicEvent } from './api.js';
import { everything, type PageOptions } from './pages.js';
import { Readings } from './readings.js';
import { Transport, type CallOptions, type ClientOptions, type PostOptions } from './transport.js';
import { Webhooks } from './webhooks.js';

/**
 * The reading service from a caller's side. Every call repeats what failed in passing (429, 500, 502, 503, 504, no
 * answer), after the time the service asks for, and throws `ProblemError` for what it refuses.
 */
export class ReadingServiceClient {
  readonly readings: Readings;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly keys: Keys;
  private readonly transport: Transport;

  /** @throws TypeError without a valid `baseUrl`, or with neither `apiKey` nor `token` */
  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    this.readings = new Readings(this.transport);
    this.webhooks = new Webhooks(this.transport);
    this.events = new Events(this.transport);
    this.keys = new Keys(this.transport);
  }

  /** What the workspace can still spend, what is reserved, and the grants it comes from. */
  credits({ signal }: CallOptions = {}): Promise<Credits> {
    return this.transport.json({ method: 'GET', path: '/api/v1/credits', signal });
  }
}

/** The events that webhooks bring, to be fetched instead, or besides. */
export class Events {
  constructor(private readonly transport: Transport) {}

  /**
   * One page, oldest first. Keep `nextCursor` and ask with it again: nothing is skipped, and nothing comes twice.
   */
  page({ signal, ...query }: PageOptions & { readonly type?: PublicEvent['type'] } = {}): Promise<EventPage> {
    return this.transport.json({ method: 'GET', path: '/api/v1/events', query, signal });
  }
}

/** API keys of the workspace. Needs a token with the scopes `keys:read` and `keys:write`. */
export class Keys {
  constructor(private readonly transport: Transport) {}

  /** One page, the newest first. */
  page({ signal, ...query }: PageOptions = {}): Promise<ApiKeys> {
    return this.transport.json({ method: 'GET', path: '/api/v1/keys', query, signal });
  }

  /** All of them, page after page. */
  async list({ signal }: CallOptions = {}): Promise<readonly ApiKey[]> {
    const keys: ApiKey[] = [];
    const pages = everything<ApiKey>(this.transport, '/api/v1/keys', { signal, limit: 100 });
    for await (const key of pages) keys.push(key);
    return keys;
  }

  /** `apiKey` is shown this once. Without it, the answer that had it was lost on the way: revoke the key, issue another. */
  issue(body: IssueApiKey = {}, options: PostOptions = {}): Promise<IssuedApiKey> {
    return this.transport.json({ method: 'POST', path: '/api/v1/keys', body, ...options });
  }

  async revoke(keyId: string, { signal }: CallOptions = {}): Promise<void> {
    const path = `/api/v1/keys/${encodeURIComponent(keyId)}`;
    await this.transport.send({ method: 'DELETE', path, signal });
  }
}
