import { hash } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { nextChain, type ChainedFacts } from '#event-sourcing/core/hash-chain.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Path = readonly (string | number)[];

interface Line {
  readonly kind: string;
  readonly previousChain?: string;
  readonly chain?: string;
  readonly facts?: ChainedFacts | null;
}

/** One value in one closed month is another one, and the chain fits it. */
export interface ForgedClose {
  /** Members of the close and indexes, such as `openGrants.0.kind`, and what became of the value. */
  readonly name: string;
  /** Number of the close's line, from 1. */
  readonly line: number;
  /** Of the close itself, when a part of it was changed: a part may have fewer or more of the right items. */
  readonly lastLine: number;
  /** The export up to and including the close: a verifier has to find the change between these two lines. */
  readonly text: () => string;
}

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every value of the data with its path, objects and lists included. */
function* valuesIn(value: Json, path: Path = []): Generator<[path: Path, value: Json]> {
  if (path.length > 0) yield [path, value];
  if (!isObject(value) && !Array.isArray(value)) return;
  for (const [name, one] of Object.entries(value))
    yield* valuesIn(one as Json, [...path, Array.isArray(value) ? Number(name) : name]);
}

const withValue = (value: Json, [first, ...rest]: Path, other: Json): Json => {
  if (first === undefined) return other;
  if (Array.isArray(value)) return value.with(Number(first), withValue(value[Number(first)], rest, other));
  if (!isObject(value)) throw new Error(`nothing is at ${first}`);
  return { ...value, [first]: withValue(value[first]!, rest, other) };
};

/** The place without its indexes and dates: values at equal places have equal types. */
const placeOf = (path: Path): string => path.map((part) => (typeof part === 'number' ? '' : part)).join('.');

/** Other values of the same type, so that no schema refuses them, and some of another. */
function* othersOf(value: Json, seen: readonly Json[]): Generator<Json> {
  yield* seen;
  if (value !== null) yield null;
  if (typeof value === 'number') yield* [value + 1, Math.max(0, value - 1), 0];
  if (typeof value === 'string') yield `${value}x`;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) yield value.replace(/^\d{4}/, '2031');
  if (Array.isArray(value)) yield* [[], value.slice(1), value.toReversed(), [...value, ...value]];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) yield [...value, 'added'];
  if (isObject(value))
    for (const name of Object.keys(value))
      yield Object.fromEntries(Object.entries(value).filter(([one]) => one !== name));
}

/** A close and its parts. */
const CLOSES = ['PeriodCarried', 'PeriodClosed'];
const closes = ({ facts }: Line): boolean => CLOSES.includes(facts?.type ?? '');

/** Index of the close that an export starts with; -1: it starts with something else. */
const startOf = (lines: readonly string[]): number => {
  const events = lines.slice(1).map((line) => JSON.parse(line) as Line);
  const end = events.findIndex(({ facts }) => facts?.type === 'PeriodClosed');
  return events.slice(0, end + 1).every(closes) ? end + 1 : -1;
};

/**
 * Every change of one value in the closed months of an export that a forger could make: the members are those of the
 * data itself.
 * @param values data of other closes, whose values are tried at the same places
 */
export function* forgedCloses(text: string, values: readonly Json[]): Generator<ForgedClose> {
  const lines = text.trimEnd().split('\n');
  const firstClose = startOf(lines);
  const seen = new Map<string, Map<string, Json>>();
  for (const data of [...values, ...closesIn(text)])
    for (const [path, value] of valuesIn(data)) {
      const place = placeOf(path);
      seen.set(place, (seen.get(place) ?? new Map<string, Json>()).set(canonicalJson(value), value));
    }
  for (const [index, line] of lines.entries()) {
    const parsed = JSON.parse(line) as Line;
    // The close before the first entry is the start of a partial export: nothing in the file can contradict it.
    if (!closes(parsed) || index <= firstClose) continue;
    const data = parsed.facts!.data as Json;
    const before = lines.slice(0, index);
    const previous = before
      .map((one) => JSON.parse(one) as Line)
      .reduce((chain, one) => one.chain ?? one.previousChain ?? chain, '');
    const last = lines.findIndex((one, at) => at >= index && factsOf(one)?.type === 'PeriodClosed');
    for (const [path, value] of valuesIn(data)) {
      const done = new Set([canonicalJson(value)]);
      for (const other of othersOf(value, [...(seen.get(placeOf(path))?.values() ?? [])])) {
        if (done.has(canonicalJson(other))) continue;
        done.add(canonicalJson(other));
        yield {
          name: `${path.join('.')} is ${JSON.stringify(other)}`,
          line: index + 1,
          lastLine: last + 1,
          text: () => {
            const changed = { ...parsed.facts!, data: withValue(data, path, other) };
            const close = [changed, ...lines.slice(index + 1, last + 1).map((one) => factsOf(one)!)];
            const forged = withDigest(before, close).map(chainedAfter(previous));
            return `${[...before, ...forged].join('\n')}\n`;
          },
        };
      }
    }
  }
}

const factsOf = (line: string): ChainedFacts | null => (JSON.parse(line) as Line).facts ?? null;

/** Writes the lines of events, each with the chain value after the one before. */
const chainedAfter = (previous: string) => {
  let chain = previous;
  return (facts: ChainedFacts): string => {
    chain = nextChain(chain, facts);
    return JSON.stringify({ kind: 'event', facts, chain });
  };
};

/** The close of a month that names its parts as they are. The forger knows how a digest is made. */
const withDigest = (before: readonly string[], close: readonly ChainedFacts[]): readonly ChainedFacts[] => {
  const end = close.at(-1)!;
  const { carried } = end.data as { carried?: object | null };
  if (!carried || close.length === 1) return close;
  const from = before.findLastIndex((line) => factsOf(line)?.type !== 'PeriodCarried') + 1;
  const parts = [...before.slice(from).map((line) => factsOf(line)!), ...close.slice(0, -1)];
  const digest = parts.reduce((all, { data }) => hash('sha256', all + canonicalJson(data), 'hex'), '');
  return close.with(-1, { ...end, data: { ...(end.data as object), carried: { ...carried, digest } } });
};

/** Places of all values in some closed months, such as `openGrants..kind`. */
export const placesIn = (closes: readonly Json[]): Set<string> =>
  new Set(closes.flatMap((data) => [...valuesIn(data)].map(([path]) => placeOf(path))));

/** The data of the closed months in an export, and of their parts. */
export const closesIn = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Line).facts)
    .filter((facts) => facts && CLOSES.includes(facts.type))
    .map((facts) => facts!.data as Json);
