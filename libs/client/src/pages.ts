import type { CallOptions, Transport } from './transport.js';

/** One page of a list. Pass `nextCursor` to get the next page; `null` means that this was the last. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export interface PageOptions extends CallOptions {
  /** Entries per page, 1 to 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** All entries of a list. Pages are fetched on demand. */
export async function* everything<T>(
  transport: Transport,
  path: string,
  { signal, ...query }: PageOptions & Readonly<Record<string, unknown>>,
): AsyncGenerator<T> {
  let cursor = query.cursor;
  do {
    const page: Page<T> = await transport.json({
      method: 'GET',
      path,
      query: { ...(query as Record<string, string>), cursor },
      signal,
    });
    yield* page.data;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
