import autocannon from 'autocannon';

export interface LoadResult {
  /** Answers with the expected status, per second. */
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

/** Requests before those that count: an engine has compiled by then what it is asked for all the time. */
const WARM_UP = 6_000;

/** Sixty-four connections asking as fast as they are answered, after a warm-up that does not count. */
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
