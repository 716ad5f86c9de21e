import autocannon from 'autocannon';

export interface LoadResult {
  /** Responses with the expected status, per second. */
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly unexpected: number;
}

export interface Load {
  readonly url: string;
  /** Paths requested round-robin; default: that of the URL. */
  readonly paths?: readonly string[];
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly expect: number;
  readonly seconds: number;
}

const CONNECTIONS = 64;

/** Warm-up requests, so that the hot code is compiled before the measurement. */
const WARM_UP = 6_000;

/** Measures 64 connections that each send the next request as soon as the response arrives, after a warm-up. */
export const measure = async (load: Load): Promise<LoadResult> => {
  await run(load, { amount: WARM_UP });
  return run(load, { duration: load.seconds });
};

const run = async (
  { url, paths, method, headers = {}, body, expect }: Load,
  length: { amount: number } | { duration: number },
): Promise<LoadResult> => {
  const result = await autocannon({
    url,
    method,
    connections: CONNECTIONS,
    ...length,
    ...(paths === undefined ? {} : { requests: paths.map((path) => ({ path })) }),
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const counts = new Map(
    Object.entries(result.statusCodeStats ?? {}).map(([status, { count }]) => [Number(status), count ?? 0]),
  );
  const expected = counts.get(expect) ?? 0;
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return {
    perSecond: expected / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    unexpected: all - expected + result.errors,
  };
};
