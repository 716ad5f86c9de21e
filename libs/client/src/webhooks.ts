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
} from './api.js';
import { everything, type PageOptions } from './pages.js';
import type { CallOptions, PostOptions, Transport } from './transport.js';

export interface DeliveryFilter {
  readonly status?: Delivery['status'];
  readonly type?: Delivery['type'];
  readonly readingId?: string;
  /** RFC 3339. */
  readonly since?: string;
  readonly until?: string;
  /** Those that never reached the receiver. */
  readonly undelivered?: boolean;
}

/** Webhook endpoints and what was sent to them. */
export class Webhooks {
  constructor(private readonly transport: Transport) {}

  /**
   * `signingSecret` is shown this once: keep it where secrets are kept. When the answer that had it was lost on the way,
   * the endpoint is given another one.
   * @param options.idempotencyKey the same key makes no second endpoint, but gives it another secret each time; the one
   *   before stays good for a day, since it may have been kept
   */
  async create(
    body: CreateWebhookEndpoint,
    options: PostOptions = {},
  ): Promise<CreatedWebhookEndpoint & { signingSecret: string }> {
    const created: CreatedWebhookEndpoint = await this.transport.json({
      method: 'POST',
      path: PATH,
      body,
      ...options,
    });
    const { signingSecret = await this.newSecret(created.endpointId, options) } = created;
    return { ...created, signingSecret };
  }

  list(options: PageOptions = {}): AsyncGenerator<WebhookEndpoint> {
    return everything(this.transport, PATH, { ...options });
  }

  get(endpointId: string, { signal }: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ method: 'GET', path: pathOf(endpointId), signal });
  }

  /** Changes what is named and leaves the rest. */
  update(
    endpointId: string,
    changes: ChangeWebhookEndpoint,
    { ifMatch, signal }: CallOptions & { readonly ifMatch?: string } = {},
  ): Promise<ChangedWebhookEndpoint> {
    return this.transport.json({
      method: 'PATCH',
      path: pathOf(endpointId),
      body: changes,
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': ifMatch },
      signal,
    });
  }

  async delete(endpointId: string, { signal }: CallOptions = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(endpointId), signal });
  }

  /**
   * A new secret; deliveries bear both signatures while the old one is still good. Without `signingSecret`, the answer that
   * had it was lost on the way: rotate again.
   */
  rotateSecret(
    endpointId: string,
    { overlapSeconds, ...options }: PostOptions & { readonly overlapSeconds?: number } = {},
  ): Promise<RotatedWebhookEndpoint> {
    const body = overlapSeconds === undefined ? {} : { overlapSeconds };
    return this.transport.json({
      method: 'POST',
      path: `${pathOf(endpointId)}/rotate-secret`,
      body,
      ...options,
    });
  }

  /** Sends an event that is marked as a test. */
  sendTest(endpointId: string, body: SendTestEvent, options: PostOptions = {}): Promise<Delivery> {
    return this.transport.json({ method: 'POST', path: `${pathOf(endpointId)}/test`, body, ...options });
  }

  health(endpointId: string, { signal }: CallOptions = {}): Promise<WebhookEndpointHealth> {
    return this.transport.json({ method: 'GET', path: `${pathOf(endpointId)}/health`, signal });
  }

  /** What was sent to an endpoint, newest first. */
  deliveries(endpointId: string, options: PageOptions & DeliveryFilter = {}): AsyncGenerator<Delivery> {
    return everything(this.transport, `${pathOf(endpointId)}/deliveries`, { ...options });
  }

  /** One delivery with all its attempts. */
  delivery(endpointId: string, deliveryId: string, { signal }: CallOptions = {}): Promise<DeliveryHistory> {
    return this.transport.json({ method: 'GET', path: deliveryPath(endpointId, deliveryId), signal });
  }

  redeliver(endpointId: string, deliveryId: string, options: PostOptions = {}): Promise<Delivery> {
    const path = `${deliveryPath(endpointId, deliveryId)}/redeliver`;
    return this.transport.json({ method: 'POST', path, ...options });
  }

  /** Sends the events of a span of time again, in order; with `dryRun`, only counts them. */
  replay(endpointId: string, body: ReplayEvents, options: PostOptions = {}): Promise<Replay> {
    return this.transport.json({ method: 'POST', path: `${pathOf(endpointId)}/replay`, body, ...options });
  }

  /** It queues nothing more; what it has queued is sent. */
  stopReplay(endpointId: string, replayId: string, { signal }: CallOptions = {}): Promise<Replay> {
    const path = `${pathOf(endpointId)}/replays/${encodeURIComponent(replayId)}`;
    return this.transport.json({ method: 'DELETE', path, signal });
  }

  getReplay(endpointId: string, replayId: string, { signal }: CallOptions = {}): Promise<Replay> {
    const path = `${pathOf(endpointId)}/replays/${encodeURIComponent(replayId)}`;
    return this.transport.json({ method: 'GET', path, signal });
  }

  private async newSecret(endpointId: string, { idempotencyKey, signal }: PostOptions): Promise<string> {
    // Nobody has the lost secret, unless an earlier run of the caller's had its answer and is being repeated.
    const overlap = idempotencyKey === undefined ? { overlapSeconds: 0 } : {};
    const { signingSecret } = await this.rotateSecret(endpointId, {
      ...overlap,
      ...(signal ? { signal } : {}),
    });
    if (signingSecret === undefined)
      throw new Error(`The secret of ${endpointId} was lost twice: rotate it again`);
    return signingSecret;
  }
}

const PATH = '/api/v1/webhooks';
const pathOf = (endpointId: string): string => `${PATH}/${encodeURIComponent(endpointId)}`;
const deliveryPath = (endpointId: string, deliveryId: string): string =>
  `${pathOf(endpointId)}/deliveries/${encodeURIComponent(deliveryId)}`;
