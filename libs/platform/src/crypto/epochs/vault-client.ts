import { readFile } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { KeysUnavailable } from '../wrapping-keys.js';

export interface VaultSettings {
  /** Such as https://vault.example.com:8200. */
  readonly url: string;
  readonly namespace?: string | undefined;
  /** The token, or the file in which an agent keeps a fresh one. */
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly caFile?: string | undefined;
  /** Longest wait for one response (ms). */
  readonly timeoutMs: number;
}

export interface VaultAnswer {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** The KMS's reason for a refusal; it may name keys, but contains no secrets. */
  readonly errors: string;
}

const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;
const LARGEST_ANSWER_BYTES = 1_048_576;

/**
 * HTTP calls as HashiCorp Vault expects them. Retries transient failures (no connection, time-out, 412, 429, 5xx) up to
 * three attempts with growing, jittered pauses. Does not follow redirects or use the environment's proxies.
 */
export class VaultClient {
  constructor(private readonly settings: VaultSettings) {}

  /** @throws KeysUnavailable when no attempt got a response */
  async call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<VaultAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      let failure: KeysUnavailable;
      try {
        const answer = await this.once(method, path, body);
        if (!isPassing(answer.status)) return answer;
        failure = new KeysUnavailable(`The KMS answers ${answer.status}`);
      } catch (error) {
        const { code, name } = error as NodeJS.ErrnoException;
        const reason = typeof code === 'string' ? code : name;
        failure = new KeysUnavailable(`The KMS cannot be reached (${reason})`, { cause: error });
      }
      if (attempt === ATTEMPTS) throw failure;
      await delay(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }

  private async once(method: string, path: string, body?: object): Promise<VaultAnswer> {
    const { url, namespace, caFile, timeoutMs } = this.settings;
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const target = new URL(`/v1/${path}`, url);
    const options = {
      method,
      // Read each time, because an agent renews it.
      headers: {
        'x-vault-token': await this.token(),
        'x-vault-request': 'true',
        ...(namespace && { 'x-vault-namespace': namespace }),
        ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
      },
      ...(caFile && { ca: await readFile(caFile) }),
      signal: AbortSignal.timeout(timeoutMs),
    };
    return new Promise((resolve, reject) => {
      const send = target.protocol === 'https:' ? requestHttps : requestHttp;
      send(target, options, (response) => void readAnswer(response).then(resolve, reject))
        .on('error', reject)
        .end(payload);
    });
  }

  private async token(): Promise<string> {
    const { token, tokenFile } = this.settings;
    return token ?? (tokenFile ? (await readFile(tokenFile, 'utf8')).trim() : '');
  }
}

const isPassing = (status: number): boolean => status === 412 || status === 429 || status >= 500;

const readAnswer = async (response: IncomingMessage): Promise<VaultAnswer> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LARGEST_ANSWER_BYTES) {
      response.destroy();
      throw new Error('a response that is too long');
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const { data, errors } = parse(text);
  return { status: response.statusCode ?? 0, data: data ?? {}, errors: (errors ?? []).join('; ') };
};

const parse = (text: string): { data?: Record<string, unknown> | null; errors?: string[] } => {
  try {
    return JSON.parse(text === '' ? '{}' : text) as { data?: Record<string, unknown>; errors?: string[] };
  } catch {
    return { errors: ['a response that is not JSON'] };
  }
};
