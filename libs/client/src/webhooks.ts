import type {
  ChangedWebhookEndpoint,
  ChangeWebhookEndpoint,
  CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
  Delivery,
  DeliveryHistory,
  Replay,
  ReplayEvents,
  RotatedWebhookEndpoint,
  SendTestEvent,
  WebhookEndpoint,
  WebhookEndpointHealth,
  WebhookEndpointStats,
} from './api.js';
import { everything, type PageOptions } from './pages.js';
import { withEtagOf, type CallOptions, type PostOptions, type Transport } from './transport.js';

export interface DeliveryFilter {
  /** One status or several; all by default. */
  readonly status?: Delivery['status'] | readonly Delivery['status'][];
  /** One type or several; all by default. */
  readonly type?: Delivery['type'] | readonly Delivery['type'][];
  readonly readingId?: string;
  /** RFC 3339. */
  readonly since?: string;
  readonly until?: string;
  /** Only deliveries that never reached the receiver. */
  readonly undelivered?: boolean;
  /** Of live or of test readings; only with a bearer token, since a key sees its own mode. */
  readonly livemode?: boolean;
}

/** Webhook endpoints and their deliveries. */
export class Webhooks {
  constructor(private readonly transport: Transport) {}

  /**
   * `signingSecret` is shown only once: store it securely. If the response that had it was lost, the endpoint
   * gets a new one.
   * @param options.idempotencyKey the same key creates no second endpoint, but rotates the secret each time.
   *   The previous secret stays valid for a day, because you may have stored it.
   */
  async create(
    body: CreateWebhookEndpoint,
    options: PostOptions = {},
  ): Promise<CreatedWebhookEndpoint & { signingSecret: string }> {
    const created: CreatedWebhookEndpoint = await this.transport.post(PATH, body, options);
    const { signingSecret } = created;
    if (signingSecret !== undefined) return withEtagOf(created, { ...created, signingSecret });
    // The rotation shows the endpoint as it is now; what was created may have changed since.
    const rotated = await this.newSecret(created.endpointId, options);
    return withEtagOf(rotated, { ...created, ...rotated });
  }

  /** @param options.livemode of live or of test readings; only with a bearer token, since a key sees its own mode */
  list(options: PageOptions & { readonly livemode?: boolean } = {}): AsyncGenerator<WebhookEndpoint> {
    return everything(this.transport, PATH, { ...options });
  }

  get(endpointId: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.get(pathOf(endpointId), options);
  }

  /**
   * Changes the given members and leaves the others.
   * @param options.ifMatch `etagOf` the endpoint that you saw: if somebody has changed it since, the call throws
   *   `precondition_failed`
   * @throws TypeError when `ifMatch` is given but `undefined`: the change would overwrite that of somebody else
   */
  async update(
    endpointId: string,
    changes: ChangeWebhookEndpoint,
    options: CallOptions & { readonly ifMatch?: string | undefined } = {},
  ): Promise<ChangedWebhookEndpoint> {
    const { ifMatch, signal } = options;
    if ('ifMatch' in options && ifMatch === undefined)
      throw new TypeError(
        'ifMatch must be an ETag, but it is undefined: items of lists and copies have none, so get the endpoint first',
      );
    return this.transport.json({
      method: 'PATCH',
      path: pathOf(endpointId),
      body: changes,
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': ifMatch },
      signal,
    });
  }

  delete(endpointId: string, options: CallOptions = {}): Promise<void> {
    return this.transport.delete(pathOf(endpointId), options);
  }

  /**
   * Creates a new secret. Deliveries carry both signatures while the old one is valid. If `signingSecret` is
   * missing, the response that had it was lost: rotate again.
   */
  rotateSecret(
    endpointId: string,
    { overlapSeconds, ...options }: PostOptions & { readonly overlapSeconds?: number } = {},
  ): Promise<RotatedWebhookEndpoint> {
    const body = overlapSeconds === undefined ? {} : { overlapSeconds };
    return this.transport.post(`${pathOf(endpointId)}/rotate-secret`, body, options);
  }

  /** Sends a trial: an event about a test reading of the workspace, marked as such in its body. */
  sendTest(endpointId: string, body: SendTestEvent, options: PostOptions = {}): Promise<Delivery> {
    return this.transport.post(`${pathOf(endpointId)}/test`, body, options);
  }

  health(endpointId: string, options: CallOptions = {}): Promise<WebhookEndpointHealth> {
    return this.transport.get(`${pathOf(endpointId)}/health`, options);
  }

  /** Attempts by hour and outcome, and how long the successful ones took. @param options RFC 3339; default: 24 hours */
  stats(
    endpointId: string,
    { signal, ...query }: CallOptions & { readonly since?: string; readonly until?: string } = {},
  ): Promise<WebhookEndpointStats> {
    return this.transport.get(`${pathOf(endpointId)}/stats`, { signal }, query);
  }

  /** Has an endpoint that is `unverified` probed again. */
  verify(endpointId: string, options: PostOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.post(`${pathOf(endpointId)}/verify`, undefined, options);
  }

  /** The deliveries of an endpoint, newest first. */
  deliveries(endpointId: string, options: PageOptions & DeliveryFilter = {}): AsyncGenerator<Delivery> {
    return everything(this.transport, `${pathOf(endpointId)}/deliveries`, { ...options });
  }

  /** One delivery with all its attempts. */
  delivery(endpointId: string, deliveryId: string, { signal }: CallOptions = {}): Promise<DeliveryHistory> {
    return this.transport.json({ method: 'GET', path: deliveryPath(endpointId, deliveryId), signal });
  }

  redeliver(endpointId: string, deliveryId: string, options: PostOptions = {}): Promise<Delivery> {
    const path = `${deliveryPath(endpointId, deliveryId)}/redeliver`;
    return this.transport.post(path, undefined, options);
  }

  /** Sends the events of a time range again, in order; with `dryRun`, only counts them. */
  replay(endpointId: string, body: ReplayEvents, options: PostOptions = {}): Promise<Replay> {
    return this.transport.post(`${pathOf(endpointId)}/replay`, body, options);
  }

  /** Queues no more events; those already queued are sent. */
  stopReplay(endpointId: string, replayId: string, { signal }: CallOptions = {}): Promise<Replay> {
    const path = `${pathOf(endpointId)}/replays/${encodeURIComponent(replayId)}`;
    return this.transport.json({ method: 'DELETE', path, signal });
  }

  getReplay(endpointId: string, replayId: string, options: CallOptions = {}): Promise<Replay> {
    const path = `${pathOf(endpointId)}/replays/${encodeURIComponent(replayId)}`;
    return this.transport.get(path, options);
  }

  private async newSecret(
    endpointId: string,
    { idempotencyKey, signal }: PostOptions,
  ): Promise<RotatedWebhookEndpoint & { signingSecret: string }> {
    // Nobody has the lost secret, so it needs no overlap. With the caller's own key, an earlier run may have
    // received it.
    const overlap = idempotencyKey === undefined ? { overlapSeconds: 0 } : {};
    const rotated = await this.rotateSecret(endpointId, {
      ...overlap,
      ...(signal ? { signal } : {}),
    });
    const { signingSecret } = rotated;
    if (signingSecret === undefined)
      throw new Error(
        `The response with the secret of ${endpointId} was lost twice: rotate the secret again`,
      );
    return withEtagOf(rotated, { ...rotated, signingSecret });
  }
}

const PATH = '/api/v1/webhooks';
const pathOf = (endpointId: string): string => `${PATH}/${encodeURIComponent(endpointId)}`;
const deliveryPath = (endpointId: string, deliveryId: string): string =>
  `${pathOf(endpointId)}/deliveries/${encodeURIComponent(deliveryId)}`;
