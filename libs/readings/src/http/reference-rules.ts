import type { FieldError } from '#platform/http/problem.js';
import { toPointer } from '#platform/http/strict-json.js';
import { isLonger } from '#platform/text/is-longer.js';
import { printable } from '#platform/text/printable.js';

/** Characters are Unicode code points. */
export const LONGEST_EXTERNAL_ID = 200;
export const MOST_METADATA_PAIRS = 20;
export const LONGEST_METADATA_KEY = 40;
export const LONGEST_METADATA_VALUE = 500;
/** Bytes of all keys and values in UTF-8. */
export const LARGEST_METADATA_BYTES = 4_096;

type Rule = Omit<FieldError, 'pointer'>;

/** The rule of external ids that a text breaks; `null`: none. */
export const externalIdFault = (text: string): Rule | null => {
  const detail = `must have 1 to ${LONGEST_EXTERNAL_ID} characters`;
  if (text === '') return { code: 'too_short', detail };
  if (isLonger(text, LONGEST_EXTERNAL_ID)) return { code: 'too_long', detail };
  return printable(text) === text
    ? null
    : { code: 'invalid_character', detail: 'must have only printable characters' };
};

/** Every fault of `metadata`, an object. A pointer names a member only when its name is a valid key. */
export const metadataErrors = (metadata: object): FieldError[] => {
  const pairs = Object.entries(metadata) as [string, unknown][];
  const errors = pairs.flatMap(([key, value]) => pairErrors(key, value));
  if (pairs.length > MOST_METADATA_PAIRS) {
    const detail = `must have at most ${MOST_METADATA_PAIRS} members`;
    errors.push({ pointer: '/metadata', code: 'too_many', detail });
  }
  const texts = pairs.flat().filter((text) => typeof text === 'string');
  if (texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > LARGEST_METADATA_BYTES) {
    const detail = `must be at most ${LARGEST_METADATA_BYTES} bytes, keys and values in UTF-8`;
    errors.push({ pointer: '/metadata', code: 'too_large', detail });
  }
  return errors;
};

const pairErrors = (key: string, value: unknown): FieldError[] => {
  if (key === '' || isLonger(key, LONGEST_METADATA_KEY) || printable(key) !== key) {
    const detail = `must have keys of 1 to ${LONGEST_METADATA_KEY} printable characters`;
    return [{ pointer: '/metadata', code: 'invalid_key', detail }];
  }
  const pointer = toPointer(['metadata', key]);
  if (typeof value !== 'string') return [{ pointer, code: 'invalid_type', detail: 'must be a string' }];
  return isLonger(value, LONGEST_METADATA_VALUE)
    ? [{ pointer, code: 'too_long', detail: `must have at most ${LONGEST_METADATA_VALUE} characters` }]
    : [];
};
