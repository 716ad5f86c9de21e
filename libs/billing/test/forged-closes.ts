import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import { nextChain, type ChainedFacts } from '@app/event-sourcing/core/hash-chain.js';

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
  /** The export up to and including that line: a verifier has to find the change there. */
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

/**
 * Every change of one value in the closed months of an export that a forger could make: the members are those of the
 * data itself.
 * @param values data of other closes, whose values are tried at the same places
 */
export function* forgedCloses(text: string, values: readonly Json[]): Generator<ForgedClose> {
  const lines = text.trimEnd().split('\n');
  const seen = new Map<string, Map<string, Json>>();
  for (const data of [...values, ...closesIn(text)])
    for (const [path, value] of valuesIn(data)) {
      const place = placeOf(path);
      seen.set(place, (seen.get(place) ?? new Map<string, Json>()).set(canonicalJson(value), value));
    }
  for (const [index, line] of lines.entries()) {
    const parsed = JSON.parse(line) as Line;
    // The close before the first entry is the start of a partial export: nothing in the file can contradict it.
    if (parsed.facts?.type !== 'PeriodClosed' || index === 1) continue;
    const data = parsed.facts.data as Json;
    const before = lines.slice(0, index);
    const previous = before
      .map((one) => JSON.parse(one) as Line)
      .reduce((chain, one) => one.chain ?? one.previousChain ?? chain, '');
    for (const [path, value] of valuesIn(data)) {
      const done = new Set([canonicalJson(value)]);
      for (const other of othersOf(value, [...(seen.get(placeOf(path))?.values() ?? [])])) {
        if (done.has(canonicalJson(other))) continue;
        done.add(canonicalJson(other));
        yield {
          name: `${path.join('.')} is ${JSON.stringify(other)}`,
          line: index + 1,
          text: () => {
            const facts = { ...parsed.facts!, data: withValue(data, path, other) };
            const changed = JSON.stringify({ kind: 'event', facts, chain: nextChain(previous, facts) });
            return `${[...before, changed].join('\n')}\n`;
          },
        };
      }
    }
  }
}

/** Places of all values in some closed months, such as `openGrants..kind`. */
export const placesIn = (closes: readonly Json[]): Set<string> =>
  new Set(closes.flatMap((data) => [...valuesIn(data)].map(([path]) => placeOf(path))));

/** The data of the closed months in an export. */
export const closesIn = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Line).facts)
    .filter((facts) => facts?.type === 'PeriodClosed')
    .map((facts) => facts!.data as Json);
