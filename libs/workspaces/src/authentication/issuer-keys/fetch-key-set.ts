export interface FetchLimits {
  /** For the whole exchange, milliseconds. */
  readonly timeoutMs: number;
  /** Of the decoded response body. */
  readonly maxBytes: number;
}

/**
 * Fetches a JSON document: one response, no redirect, limited time and size.
 * @throws Error whose message names the fault and quotes nothing from the response
 */
export const fetchKeySet = async (url: string, { timeoutMs, maxBytes }: FetchLimits): Promise<unknown> => {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    signal,
    redirect: 'manual',
    headers: { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' },
  }).catch((cause: unknown) => {
    throw new Error(signal.aborted ? `no response within ${timeoutMs} ms` : 'no connection', { cause });
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`answered ${response.status}`);
  }
  const text = await readText(response, maxBytes).catch((cause: unknown) => {
    throw new Error(signal.aborted ? `no complete response within ${timeoutMs} ms` : messageOf(cause), {
      cause,
    });
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('the response is not JSON');
  }
};

class TooLarge extends Error {}

const messageOf = (cause: unknown): string =>
  cause instanceof TooLarge ? cause.message : 'the response was cut off';

const readText = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the exchange.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new TooLarge(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};
