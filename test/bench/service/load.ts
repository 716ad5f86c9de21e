import autocannon from 'autocannon';
import { inTurns } from '../measure.js';
import type { Row } from '../report.js';

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

/** About the length of a turn of a load that is compared with others. */
const TURN_SECONDS = 2;

/**
 * Measures loads of 64 connections that each send the next request as soon as the response arrives, in short turns, after
 * a warm-up of each.
 * @param loads as long as each other
 * @returns the means over the turns, also of p50 and p99, in the order of the loads
 */
export const measureInTurns = async <L extends readonly Load[]>(
  ...loads: L
): Promise<{ readonly [K in keyof L]: LoadResult }> => {
  for (const load of loads) await run(load, { amount: WARM_UP });
  const { seconds } = loads[0]!;
  const turns = Math.max(2, Math.round(seconds / TURN_SECONDS));
  const turn = (load: Load) => () => run(load, { duration: seconds / turns });
  return (await inTurns<readonly LoadResult[]>(turns, ...loads.map(turn))).map(meanOf) as never;
};

/** The row of these loads, which also says how many answers were not the expected ones. */
export const withRefusals = (row: Row, ...loads: readonly LoadResult[]): Row => {
  const others = loads.reduce((sum, { unexpected }) => sum + unexpected, 0);
  if (others === 0) return row;
  return {
    ...row,
    measured: `${row.measured}, ${others} other answers`,
    met: row.met === null ? null : false,
  };
};

const meanOf = (results: readonly LoadResult[]): LoadResult => {
  const mean = (of: (result: LoadResult) => number): number =>
    results.reduce((sum, result) => sum + of(result), 0) / results.length;
  return {
    perSecond: mean(({ perSecond }) => perSecond),
    p50: mean(({ p50 }) => p50),
    p99: mean(({ p99 }) => p99),
    unexpected: results.reduce((sum, { unexpected }) => sum + unexpected, 0),
  };
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
  const counts = Object.values(result.statusCodeStats ?? {}).map(({ count }) => count ?? 0);
  const expected = result.statusCodeStats?.[`${expect}` as const]?.count ?? 0;
  const all = counts.reduce((sum, count) => sum + count, 0);
  return {
    perSecond: expected / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    unexpected: all - expected + result.errors,
  };
};
