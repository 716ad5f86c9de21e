import { isStorable } from '#event-sourcing/core/event-catalogue.js';
import { MOST_ERRORS, cut, invalidRequest, Problem, type FieldError } from './problem.js';

const MAXIMUM_DEPTH = 8;
/** Of one object. The checks of a body compare its members with each other, so thousands would take seconds. */
const MAX_MEMBERS = 50;
/** Of one body, objects and arrays too: more than the largest bulk has. */
const MAX_VALUES = 100_000;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as JSON in UTF-8 and refuses what JSON.parse accepts: duplicate members (the last would win
 * silently), deep nesting, objects with very many members, members that the mapping to a DTO would drop silently, and text
 * that no database can store (U+0000 and halves of surrogate pairs, which escapes can express).
 * @throws Problem malformed_json, or validation_failed with pointers
 */
export const parseStrictJson = (body: Uint8Array | string): unknown => {
  try {
    const text = typeof body === 'string' ? body : decoded(body);
    // First, because JSON.parse takes seconds for some megabytes of brackets.
    const { errors, omitted } = readStructure(text);
    const value: unknown = JSON.parse(text);
    if (errors.length > 0) throw invalidRequest(errors, omitted);
    return value;
  } catch (error) {
    throw error instanceof Problem ? error : malformed();
  }
};

/** The text of a body in UTF-8, whatever it says. @throws Problem malformed_json */
export const decoded = (body: Uint8Array): string => {
  try {
    return utf8.decode(body);
  } catch {
    throw malformed();
  }
};

const malformed = (): Problem =>
  new Problem('malformed_json', { detail: 'The body must be one JSON value in UTF-8' });

/** class-transformer skips these for safety. To the caller, they are unknown fields like any other. */
const NEVER_FIELDS = new Set(['__proto__', 'constructor']);
/** Objects whose keys the caller chooses, so that none of them is unknown. */
const FREE_KEYS = new Set<string | number | undefined>(['metadata']);

type Rule = Omit<FieldError, 'pointer'>;
const UNKNOWN = { code: 'unknown_field', detail: 'is not a field of this request' };
const RESERVED = { code: 'invalid_key', detail: 'must have another key: this one is reserved' };
const REPEATED = { code: 'duplicate_member', detail: 'appears more than once' };
const INFINITE = { code: 'invalid_value', detail: 'is too large a number' };
const UNSTORABLE = { code: 'invalid_character', detail: 'must not hold U+0000 or half of a surrogate pair' };

/** An object or array that has not ended. */
interface Open {
  /** Of an object: how often each member came. */
  readonly members: Map<string, number> | null;
  /** The member or element that comes now. */
  step: string | number;
}

/** A number or a literal, up to what follows it. */
const WORD = /[^ \t\n\r,\]}]+/y;

/** Passes over the text once, which may be no JSON. @throws Problem for what ends the search, SyntaxError for bad escapes */
const readStructure = (text: string): { errors: readonly FieldError[]; omitted: number } => {
  const errors: FieldError[] = [];
  let omitted = 0;
  const open: Open[] = [];
  let values = 0;
  let isName = false;
  const path = (): (string | number)[] => open.map(({ step }) => step);
  const add = (rule: Rule, place = path()): void => {
    if (errors.length === MOST_ERRORS) omitted += 1;
    else errors.push({ pointer: toPointer(place), ...rule });
  };
  const countValue = (): void => {
    values += 1;
    if (values > MAX_VALUES) throw refused('', 'too_many', `must have at most ${MAX_VALUES} values`);
  };
  const begin = (members: Open['members'], step: string | number): void => {
    countValue();
    open.push({ members, step });
    isName = members !== null;
    if (open.length > MAXIMUM_DEPTH)
      throw refused('', 'too_deep', `must not be nested more than ${MAXIMUM_DEPTH} deep`);
  };
  const member = (inside: Open, members: Map<string, number>, name: string): void => {
    const above = path().slice(0, -1);
    inside.step = name;
    isName = false;
    const times = (members.get(name) ?? 0) + 1;
    members.set(name, times);
    if (times === 2) add(REPEATED);
    if (times > 1) return;
    if (members.size > MAX_MEMBERS)
      throw refused(toPointer(above), 'too_many', `must have at most ${MAX_MEMBERS} members`);
    // A name that cannot be stored is not reported either: the pointer is that of its object.
    if (!isStorable(name)) add(UNSTORABLE, above);
    if (NEVER_FIELDS.has(name)) add(FREE_KEYS.has(above.at(-1)) ? RESERVED : UNKNOWN);
  };
  for (let at = 0; at < text.length; at += 1) {
    const inside = open.at(-1);
    switch (text[at]) {
      case ' ':
      case '\t':
      case '\n':
      case '\r':
      case ':':
        break;
      case '{':
        begin(new Map(), '');
        break;
      case '[':
        begin(null, 0);
        break;
      case '}':
      case ']':
        open.pop();
        isName = false;
        break;
      case ',':
        if (typeof inside?.step === 'number') inside.step += 1;
        else isName = true;
        break;
      case '"': {
        const start = at;
        for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
        const quoted = text.slice(start, at + 1);
        // Only an escape can express what cannot be stored.
        const string = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
        if (isName && inside?.members) member(inside, inside.members, string);
        else {
          countValue();
          if (string.length < quoted.length - 2 && !isStorable(string)) add(UNSTORABLE);
        }
        break;
      }
      default: {
        countValue();
        WORD.lastIndex = at;
        // JSON does not limit numbers. One that is infinite has neither a canonical form nor a place in a database.
        const word = WORD.exec(text)![0];
        if (Math.abs(Number(word)) === Infinity) add(INFINITE);
        at += word.length - 1;
      }
    }
  }
  return { errors, omitted };
};

const refused = (pointer: string, code: string, detail: string): Problem =>
  invalidRequest([{ pointer, code, detail }]);

/** RFC 6901; cut, because names may be as long as a body. */
export const toPointer = (path: readonly (string | number)[]): string =>
  cut(path.map((step) => `/${cut(String(step)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
