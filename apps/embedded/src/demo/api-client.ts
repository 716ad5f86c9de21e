/** What the demo reads of a reading. */
export interface Reading {
  readonly readingId: string;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly document: { readonly available: boolean; readonly version: number | null };
}

export interface WebhookEndpoint {
  readonly endpointId: string;
  readonly signingSecret: string;
}

export type DocumentFormat = 'document_v1' | 'markdown' | 'pdf';

const ANSWER_WITHIN_MS = 15_000;

/** The calls an integrator makes, with nothing but `fetch` and an API key. */
export class ApiClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  createReading(body: unknown): Promise<Reading> {
    return this.json('POST', '/api/v1/readings', 202, body);
  }

  createWebhook(url: string): Promise<WebhookEndpoint> {
    return this.json('POST', '/api/v1/webhooks', 201, { url });
  }

  getReading(readingId: string): Promise<Reading> {
    return this.json('GET', `/api/v1/readings/${readingId}`, 200);
  }

  getResult(readingId: string): Promise<Buffer> {
    return this.bytes('GET', `/api/v1/readings/${readingId}/result`, 200);
  }

  getDocument(readingId: string, format: DocumentFormat): Promise<Buffer> {
    return this.bytes('GET', `/api/v1/readings/${readingId}/document?format=${format}`, 200);
  }

  private async json<T>(method: string, path: string, status: number, body?: unknown): Promise<T> {
    return JSON.parse((await this.bytes(method, path, status, body)).toString('utf8')) as T;
  }

  /** @throws Error with the problem's body when the answer has another status */
  private async bytes(method: string, path: string, status: number, body?: unknown): Promise<Buffer> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        'x-api-key': this.apiKey,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status === status) return bytes;
    throw new Error(
      `${method} ${path} answered ${response.status}, not ${status}: ${bytes.toString('utf8').slice(0, 500)}`,
    );
  }
}
