import { visit } from 'jsonc-parser';
import { isStorable } from '@app/event-sourcing/core/storable-text.js';
import { MOST_ERRORS, invalidRequest, Problem, type FieldError } from './problem.js';

const MAXIMUM_DEPTH = 8;
/** Of one object. The checks of a body compare its members with each other, so thousands would take seconds. */
const MOST_MEMBERS = 50;
/** Of one body, objects and arrays too: more than the largest bulk has. */
const MOST_VALUES = 100_000;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as JSON in UTF-8 and refuses what JSON.parse accepts: duplicate members (the last would win
 * silently), deep nesting, objects with very many members, members that the mapping to a DTO would drop silently, and text
 * that no database can store (U+0000 and halves of surrogate pairs, which escapes can express).
 * @throws Problem malformed_json, or validation_failed with pointers
 */
export const parseStrictJson = (body: Uint8Array): unknown => {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw new Problem('malformed_json', { detail: 'The body must be one JSON value in UTF-8' });
  }
  checkStructure(text);
  return value;
};

/** class-transformer skips these for safety. To the caller, they are unknown fields like any other. */
const NEVER_FIELDS = new Set(['__proto__', 'constructor']);
/** Objects whose keys the caller chooses, so that none of them is unknown. */
const FREE_KEYS = new Set<string | number | undefined>(['metadata']);

const UNKNOWN = { code: 'unknown_field', detail: 'is not a field of this request' };
const RESERVED = { code: 'invalid_key', detail: 'must have another key: this one is reserved' };

/** @throws Problem with all errors of the structure, or the first `MOST_ERRORS`, or the one that ends the search */
const checkStructure = (text: string): void => {
  const errors: FieldError[] = [];
  const add = (error: FieldError): void => {
    errors.push(error);
    if (errors.length > MOST_ERRORS) throw invalidRequest(errors);
  };
  const members: Set<string>[] = [];
  let depth = 0;
  let values = 0;
  const tooMany = (pointer: string, detail: string): Problem =>
    invalidRequest([{ pointer, code: 'too_many', detail }]);
  const countValue = (): void => {
    values += 1;
    if (values > MOST_VALUES) throw tooMany('', `must have at most ${MOST_VALUES} values`);
  };
  const enter = (): void => {
    countValue();
    depth += 1;
    if (depth <= MAXIMUM_DEPTH) return;
    // Thrown at once, because the visitor recurses and a body of only brackets would exhaust the stack.
    throw invalidRequest([
      { pointer: '', code: 'too_deep', detail: `must not be nested more than ${MAXIMUM_DEPTH} deep` },
    ]);
  };
  visit(text, {
    onObjectBegin: () => {
      members.push(new Set());
      enter();
    },
    onObjectEnd: () => {
      members.pop();
      depth -= 1;
    },
    onLiteralValue: (value: unknown, _offset, _length, _line, _character, path) => {
      countValue();
      if (typeof value === 'string' && !isStorable(value)) add(unstorable(path()));
      // JSON does not limit numbers. This one became infinite, which neither the canonical form nor a database can
      // represent.
      if (typeof value === 'number' && !Number.isFinite(value))
        add({ pointer: toPointer(path()), code: 'invalid_value', detail: 'is too large a number' });
    },
    onArrayBegin: enter,
    onArrayEnd: () => {
      depth -= 1;
    },
    onObjectProperty: (name, _offset, _length, _line, _character, path) => {
      const seen = members.at(-1);
      if (seen?.has(name)) {
        add({
          pointer: toPointer([...path(), name]),
          code: 'duplicate_member',
          detail: 'appears more than once',
        });
      }
      seen?.add(name);
      if (seen && seen.size > MOST_MEMBERS)
        throw tooMany(toPointer(path()), `must have at most ${MOST_MEMBERS} members`);
      if (!isStorable(name)) add(unstorable(path()));
      if (NEVER_FIELDS.has(name)) {
        const rule = FREE_KEYS.has(path().at(-1)) ? RESERVED : UNKNOWN;
        add({ pointer: toPointer([...path(), name]), ...rule });
      }
    },
  });
  if (errors.length > 0) throw invalidRequest(errors);
};

/** A member name that cannot be stored is not reported either: the pointer is that of its object. */
const unstorable = (path: readonly (string | number)[]): FieldError => ({
  pointer: toPointer(path),
  code: 'invalid_character',
  detail: 'must not hold U+0000 or half of a surrogate pair',
});

/** RFC 6901. */
export const toPointer = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
