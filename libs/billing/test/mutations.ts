import { crc32 } from 'node:zlib';

/** Changes to an export, each made in one place. Drawn from its lines, the same ones each time. */
export interface Mutant {
  /** What kind of change it is, and where: equal names are changes of the same kind at the same kind of place. */
  readonly name: string;
  /** The member, such as `event PlanGranted facts.data.credits`; `null`: whole lines or bytes. */
  readonly member: string | null;
  /** The change keeps the meaning: JSON has no order of members, and the hash sorts them. */
  readonly isHarmless: boolean;
  readonly bytes: () => Uint8Array;
}

export type Json = null | boolean | number | string | Json[] | { readonly [name: string]: Json };
type Members = Readonly<Record<string, Json>>;
const isMembers = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where a value is: names of members and indexes. */
type Path = readonly (string | number)[];

/** Replaces an object's text by one with another list of members. */
type Rewrite = (name: string, text: string, other: string) => readonly string[];

const otherValue = (value: Json): Json => {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return value.endsWith('1') ? `${value.slice(0, -1)}2` : `${value}1`.slice(1);
  if (typeof value === 'boolean') return !value;
  if (value === null) return 'null';
  return Array.isArray(value) ? [...value, null] : { ...value, added: 1 };
};

const otherType = (value: Json): Json => {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return /^\d{1,15}$/.test(value) ? Number(value) : null;
  return value === null ? '' : null;
};

const member = (name: string, text: string): string => `${JSON.stringify(name)}:${text}`;
const escaped = (text: string): string =>
  `"\\u${text.charCodeAt(1).toString(16).padStart(4, '0')}${text.slice(2)}`;

/** What becomes of one member. Empty: it is deleted. */
const CHANGES: Readonly<Record<string, Rewrite>> = {
  altered: (name, _, other) => [member(name, other)],
  deleted: () => [],
  'repeated before': (name, text, other) => [member(name, other), member(name, text)],
  'repeated after': (name, text, other) => [member(name, text), member(name, other)],
  'repeated the same': (name, text) => [member(name, text), member(name, text)],
  'renamed to': (name, text) => [member(`${name}_`, text)],
  spaced: (name, text) => [`${JSON.stringify(name)}: ${text}`],
  emptied: (name) => [member(name, 'null')],
};

const textOf = (value: Json): string => JSON.stringify(value);

/** The texts of a line with one change at one member, for every member at every depth. */
export function* changedMembers(
  value: Json,
  path: Path = [],
): Generator<[what: string, path: Path, text: string]> {
  if (Array.isArray(value)) {
    const items = value.map(textOf);
    for (const [index, item] of value.entries()) {
      for (const [what, at, text] of changedMembers(item, [...path, index]))
        yield [what, at, `[${items.with(index, text).join(',')}]`];
      yield ['dropped', [...path, index], `[${items.toSpliced(index, 1).join(',')}]`];
      yield ['listed twice', [...path, index], `[${items.toSpliced(index, 0, items[index]!).join(',')}]`];
    }
    if (items.length > 1 && items[0] !== items.at(-1))
      yield ['reversed', path, `[${items.toReversed().join(',')}]`];
    return;
  }
  if (!isMembers(value)) return;
  const names = Object.keys(value);
  const texts = names.map((name) => member(name, textOf(value[name]!)));
  const object = (parts: readonly string[]): string => `{${parts.join(',')}}`;
  for (const [index, name] of names.entries()) {
    const own = value[name]!;
    const put = (...parts: readonly string[]): string => object(texts.toSpliced(index, 1, ...parts));
    const at = [...path, name];
    for (const [what, change] of Object.entries(CHANGES)) {
      if (what === 'emptied' && own === null) continue;
      yield [what, at, put(...change(name, textOf(own), textOf(otherValue(own))))];
    }
    yield ['of another type', at, put(member(name, textOf(otherType(own))))];
    if (typeof own === 'number') {
      yield ['written with a fraction', at, put(member(name, `${textOf(own)}.0`))];
      yield ['written with an exponent', at, put(member(name, `${textOf(own)}e0`))];
      yield ['negative', at, put(member(name, `-${textOf(own)}`.replace('--', '')))];
    }
    if (typeof own === 'string' && /^\w/.test(own))
      yield ['escaped', at, put(member(name, escaped(textOf(own))))];
    if (index < names.length - 1) yield ['moved', at, object([...texts.toSpliced(index, 1), texts[index]!])];
    for (const [what, inner, text] of changedMembers(own, at)) yield [what, inner, put(member(name, text))];
  }
}

/** The lines of a file with one change to whole lines. */
function* changedLines(lines: readonly string[]): Generator<[name: string, lines: readonly string[]]> {
  for (const [index, line] of lines.entries()) {
    const kind = kindOf(line);
    const next = lines[index + 1];
    yield [`${kind} dropped`, lines.toSpliced(index, 1)];
    yield [`${kind} repeated`, lines.toSpliced(index, 0, line)];
    yield [`${kind} cut`, lines.with(index, line.slice(0, line.length >> 1))];
    yield [`${kind} blanked`, lines.with(index, '')];
    yield [`blank line before ${kind}`, lines.toSpliced(index, 0, '')];
    yield [`${kind} ends with CR`, lines.with(index, `${line}\r`)];
    yield [`${kind} followed by a space`, lines.with(index, `${line} `)];
    if (next !== undefined)
      yield [`${kind} swapped with ${kindOf(next)}`, lines.with(index, next).with(index + 1, line)];
    if (index > 0) yield [`cut before ${kind}`, lines.slice(0, index)];
    const other = lines.findIndex((one, at) => at > index + 1 && kindOf(one) === kind);
    if (other > 0) yield [`${kind} moved`, lines.toSpliced(index, 1).toSpliced(other, 0, line)];
  }
  yield ['line added at the end', [...lines, lines[1] ?? lines[0]!]];
  yield ['CRLF', lines.map((line) => `${line}\r`)];
}

/** `event PlanGranted`, `posting`, … */
const kindOf = (line: string): string => {
  const { kind, facts } = JSON.parse(line) as { kind: string; facts?: { type: string } };
  return facts && kind === 'event' ? `${kind} ${facts.type}` : kind;
};

/** Bytes changed without regard to lines. */
function* changedBytes(text: string): Generator<[name: string, bytes: Uint8Array]> {
  const bytes = Buffer.from(text);
  yield ['byte order mark', Buffer.concat([Buffer.from('\uFEFF'), bytes])];
  yield ['no line end at the end', bytes.subarray(0, -1)];
  yield ['no text', Buffer.alloc(0)];
  const invalid = Buffer.from(bytes);
  invalid[bytes.length >> 1] = 0xff;
  yield ['not UTF-8', invalid];
}

/** Every mutant of an export. */
export function* mutantsOf(text: string): Generator<Mutant> {
  const lines = text.trimEnd().split('\n');
  const mutant = (
    name: string,
    changed: readonly string[],
    member: string | null = null,
    isHarmless = false,
  ): Mutant => ({
    name,
    member,
    isHarmless,
    bytes: () => Buffer.from(`${changed.join('\n')}\n`),
  });
  for (const [index, line] of lines.entries()) {
    for (const [what, path, changed] of changedMembers(JSON.parse(line) as Json)) {
      if (changed === line) continue;
      const names = path.map((part) => (typeof part === 'number' ? '[]' : part));
      const place = `${kindOf(line)} ${names.join('.')}`;
      const isHarmless = what === 'moved' && path.length > 2 && path[1] === 'data';
      yield mutant(`${place} ${what}`, lines.with(index, changed), place, isHarmless);
    }
  }
  for (const [name, changed] of changedLines(lines))
    if (changed.join('\n') !== lines.join('\n')) yield mutant(name, changed);
  for (const [name, bytes] of changedBytes(text))
    yield { name, member: null, isHarmless: false, bytes: () => bytes };
}

/**
 * One mutant of each name that falls into the sample, the same ones each time: one name of so many. And one of each member
 * that has none yet.
 * @param covered members that have a mutant; the caller adds those of what it gets
 */
export function* sampledMutants(
  text: string,
  oneOf: number,
  covered: ReadonlySet<string>,
): Generator<Mutant> {
  const seen = new Set<string>();
  for (const mutant of mutantsOf(text)) {
    const { name, member } = mutant;
    const isNew = member !== null && !covered.has(member);
    if (seen.has(name) || (crc32(name) % oneOf !== 0 && !isNew)) continue;
    seen.add(name);
    yield mutant;
  }
}
