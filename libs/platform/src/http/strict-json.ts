import { visit } from 'jsonc-parser';
import { isStorable } from '@app/event-sourcing/core/storable-text.js';
import { invalidRequest, Problem, type FieldError } from './problem.js';

const MAXIMUM_DEPTH = 8;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as JSON in UTF-8 and refuses what JSON.parse accepts: duplicate members (the last would win
 * silently), deep nesting, members that the mapping to a DTO would drop silently, and text that no database can store
 * (U+0000 and halves of surrogate pairs, which escapes can express).
 * @throws Problem malformed_json, or validation_failed with a pointer
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
  const errors = structuralErrors(text);
  if (errors.length > 0) throw invalidRequest(errors);
  return value;
};

/** class-transformer skips these for safety. To the caller, they are unknown fields like any other. */
const NEVER_FIELDS = new Set(['__proto__', 'constructor']);

const structuralErrors = (text: string): FieldError[] => {
  const errors: FieldError[] = [];
  const members: Set<string>[] = [];
  let depth = 0;
  const enter = (): void => {
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
      if (typeof value === 'string' && !isStorable(value)) errors.push(unstorable(path()));
      // JSON does not limit numbers. This one became infinite, which neither the canonical form nor a database can
      // represent.
      if (typeof value === 'number' && !Number.isFinite(value))
        errors.push({ pointer: toPointer(path()), code: 'invalid_value', detail: 'is too large a number' });
    },
    onArrayBegin: enter,
    onArrayEnd: () => {
      depth -= 1;
    },
    onObjectProperty: (name, _offset, _length, _line, _character, path) => {
      const seen = members.at(-1);
      if (seen?.has(name)) {
        errors.push({
          pointer: toPointer([...path(), name]),
          code: 'duplicate_member',
          detail: 'appears more than once',
        });
      }
      seen?.add(name);
      if (!isStorable(name)) errors.push(unstorable(path()));
      if (NEVER_FIELDS.has(name)) {
        errors.push({
          pointer: toPointer([...path(), name]),
          code: 'unknown_field',
          detail: 'is not a field of this request',
        });
      }
    },
  });
  return errors;
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
