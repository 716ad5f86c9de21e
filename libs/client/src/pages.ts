import type { CallOptions, Transport } from './transport.js';

/** One page of a list; `nextCursor` asks for the one after it, `null`: it was the last. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export interface PageOptions extends CallOptions {
  /** Entries of a page, 1 to 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Everything of a list, page after page, as it is asked for. */
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
