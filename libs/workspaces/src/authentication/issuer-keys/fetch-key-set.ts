export interface FetchLimits {
  /** For the whole exchange, milliseconds. */
  readonly timeoutMs: number;
  /** Of the answer, decoded. */
  readonly maxBytes: number;
}

/**
 * Fetches a document of JSON: one answer, no redirect, bounded in time and size.
 * @throws Error whose message says what was wrong, and repeats nothing of the answer
 */
export const fetchKeySet = async (url: string, { timeoutMs, maxBytes }: FetchLimits): Promise<unknown> => {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    signal,
    redirect: 'manual',
    headers: { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' },
  }).catch((cause: unknown) => {
    throw new Error(signal.aborted ? `no answer within ${timeoutMs} ms` : 'no connection', { cause });
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`answered ${response.status}`);
  }
  const text = await readText(response, maxBytes).catch((cause: unknown) => {
    throw new Error(signal.aborted ? `no whole answer within ${timeoutMs} ms` : messageOf(cause), { cause });
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('answered what is no JSON');
  }
};

class TooLarge extends Error {}

const messageOf = (cause: unknown): string =>
  cause instanceof TooLarge ? cause.message : 'the answer broke off';

const readText = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the exchange.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new TooLarge(`answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};
