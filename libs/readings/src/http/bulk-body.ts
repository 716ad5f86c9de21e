import { setImmediate as turn } from 'node:timers/promises';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { invalidRequest, MOST_ERRORS, Problem, type FieldError } from '#platform/http/problem.js';
import { LARGEST_BODY } from '#platform/http/json-body.interceptor.js';
import { decoded, parseStrictJson, toPointer } from '#platform/http/strict-json.js';
import { BATCH_MODES, type BatchMode } from '../contracts/events.js';

export const MOST_READINGS = 1_000;
/** Bytes of one reading, at most: as many as `POST /readings` takes. */
export const LARGEST_READING = LARGEST_BODY;
/** Characters around the readings, at most: they are read as one text, without a turn for others. */
const LARGEST_AROUND = 16_384;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** One reading of the body. `line`: of NDJSON, from 1. */
export interface BulkItem<T> {
  readonly line: number | null;
  readonly checked: T | Problem;
}

/** A reading as it was sent, before any check. */
interface SentReading {
  readonly line: number | null;
  readonly json: Uint8Array | string;
}

interface SentBulk {
  readonly mode: BatchMode;
  readonly readings: readonly SentReading[];
}

/** What is wrong with the mode: nothing, or one error. */
const modeErrors = (value: unknown, pointer: string): FieldError[] => {
  if (BATCH_MODES.some((one) => one === value)) return [];
  const detail = `must be one of ${BATCH_MODES.join(', ')}`;
  return [{ pointer, code: value === undefined ? 'required' : 'invalid_value', detail }];
};

/**
 * The readings of a bulk, told apart and not looked at.
 * @param body absent when it was empty
 * @param queryMode `?mode=`, for NDJSON only
 * @throws Problem malformed_json or validation_failed when the whole is not well formed
 */
export const readBulk = (
  body: Uint8Array | undefined,
  isLines: boolean,
  queryMode: string | undefined,
): SentBulk => {
  if (body === undefined) throw notAnObject();
  if (!isLines) return readObject(decoded(body), queryMode);
  const readings = linesOf(body);
  const errors = [...modeErrors(queryMode, '?mode'), ...countErrors(readings.length)];
  if (errors.length > 0) throw invalidRequest(errors);
  return { mode: queryMode as BatchMode, readings };
};

const notAnObject = (): Problem =>
  invalidRequest([{ pointer: '', code: 'invalid_type', detail: 'must be an object' }]);

const readObject = (text: string, queryMode: string | undefined): SentBulk => {
  const { around, list } = apart(text);
  const body = parseStrictJson(around);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notAnObject();
  const { mode, readings, ...unknown } = body as { mode?: unknown; readings?: unknown };
  const errors: FieldError[] = Object.keys(unknown).map((name) => ({
    pointer: toPointer([name]),
    code: 'unknown_field',
    detail: 'is not a field of this request',
  }));
  if (queryMode !== undefined)
    errors.push({ pointer: '?mode', code: 'invalid_value', detail: 'belongs into the body of JSON' });
  errors.push(...modeErrors(mode, '/mode'));
  if (Array.isArray(readings)) errors.push(...countErrors(list.length));
  else {
    const code = readings === undefined ? 'required' : 'invalid_type';
    errors.push({ pointer: '/readings', code, detail: 'must be an array of readings' });
  }
  if (errors.length > 0) throw invalidRequest(errors);
  return { mode: mode as BatchMode, readings: list.map((json) => ({ line: null, json })) };
};

/**
 * The readings in the text of a body, and the text around them: what is wrong in one of them is wrong with that one alone.
 * The text may be no JSON: then one of the parts is none either.
 * @throws Problem for one reading too many, or for too much around them
 */
const apart = (text: string): { readonly around: string; readonly list: readonly string[] } => {
  const list: string[] = [];
  let [around, kept, depth, begun] = ['', 0, 0, 0];
  /** Whether the last string at the first depth is the member's name. It is read once, however often it is asked. */
  let isNamed = false;
  let isWithin = false;
  const endReading = (at: number, isLast: boolean): void => {
    const reading = text.slice(begun, at);
    const isEmptyList = isLast && list.length === 0 && !/[^ \t\n\r]/.test(reading);
    if (!isEmptyList && list.push(reading) > MOST_READINGS) throw invalidRequest(countErrors(list.length));
    begun = at + 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const start = at;
        for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
        if (depth === 1) isNamed = isReadings(text.slice(start, at + 1));
        break;
      }
      case '{':
      case '[':
        if (depth === 1 && text[at] === '[' && isNamed) {
          isWithin = true;
          begun = at + 1;
          around += text.slice(kept, begun);
        }
        depth += 1;
        break;
      case '}':
      case ']':
        depth -= 1;
        if (!isWithin || depth > 1) break;
        endReading(at, true);
        isWithin = false;
        kept = at;
        break;
      case ',':
        if (isWithin && depth === 2) endReading(at, false);
        break;
      default:
    }
    if (!isWithin && around.length + at - kept > LARGEST_AROUND) throw tooMuchAround();
  }
  return { around: around + text.slice(kept), list };
};

const tooMuchAround = (): Problem =>
  invalidRequest([
    {
      pointer: '',
      code: 'too_long',
      detail: `must have at most ${LARGEST_AROUND} characters beside its readings`,
    },
  ]);

/** `readings` in quotes, any of its letters escaped. A name that JSON does not know costs an exception. */
const ESCAPED_LETTERS = /^"(?:[a-z]|\\u00[67][0-9A-Fa-f]){8}"$/;

/** @param name as it stands in the text, with its quotes */
const isReadings = (name: string): boolean =>
  name === '"readings"' || (ESCAPED_LETTERS.test(name) && JSON.parse(name) === 'readings');

/** What is wrong with the number of readings: nothing, or one error. */
const countErrors = (count: number): FieldError[] => {
  if (count >= 1 && count <= MOST_READINGS) return [];
  const detail = `must have 1 to ${MOST_READINGS} readings`;
  return [{ pointer: '/readings', code: count === 0 ? 'too_few' : 'too_many', detail }];
};

/** Lines of a body, empty ones too. Millions of them would take seconds to pass over. */
const MOST_LINES = 10 * MOST_READINGS;

/** Lines with something on them, numbered from 1. Stops after one line too many. @throws Problem for too many lines */
const linesOf = (bytes: Uint8Array): readonly SentReading[] => {
  const lines: SentReading[] = [];
  for (let start = 0, line = 1; start < bytes.length && lines.length <= MOST_READINGS; line += 1) {
    if (line > MOST_LINES) {
      const detail = `must have at most ${MOST_LINES} lines, empty ones too`;
      throw invalidRequest([{ pointer: '', code: 'too_many', detail }]);
    }
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const json = bytes.subarray(start, bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
    if (json.length > 0) lines.push({ line, json });
    start = end + 1;
  }
  return lines;
};

/** How many readings are checked, and for how long (ms), before other requests get their turn. Hostile ones take long. */
const [AT_ONCE, TURN_MS] = [10, 5];
const pipe = new BodyPipe();

/**
 * Checks each reading of a bulk as the body of a request of its own, in turns with other work.
 * @throws Problem malformed_json when a reading in a JSON body is no JSON
 */
export const checkReadings = async <T extends object>(
  readings: readonly SentReading[],
  metatype: new () => T,
): Promise<readonly BulkItem<T>[]> => {
  const checked: BulkItem<T>[] = [];
  let since = performance.now();
  for (const [index, { line, json }] of readings.entries()) {
    if ((index > 0 && index % AT_ONCE === 0) || performance.now() - since > TURN_MS) {
      await turn();
      since = performance.now();
    }
    const one = await check(json, metatype);
    // Of lines, each is a text of its own.
    if (line === null && one instanceof Problem && one.code === 'malformed_json') throw one;
    checked.push({ line, checked: one });
  }
  return checked;
};

const check = async <T extends object>(
  json: Uint8Array | string,
  metatype: new () => T,
): Promise<T | Problem> => {
  if (Buffer.byteLength(json) > LARGEST_READING)
    return invalidRequest([
      { pointer: '', code: 'too_long', detail: `must have at most ${LARGEST_READING} bytes` },
    ]);
  try {
    return (await pipe.transform(parseStrictJson(json), { type: 'body', metatype })) as T;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

const INVALID = 400;

/**
 * The refusal of a batch of mode `all` with readings that are not valid. Pointers begin with that of the reading; no more
 * errors are made than are shown, the others are counted. When all are valid, and some asked for a refusal of their own (`metadata.test_outcome`), the batch gets the first of these.
 */
export const refusalOfAll = (items: readonly BulkItem<unknown>[]): Problem | null => {
  const errors: FieldError[] = [];
  let omitted = 0;
  for (const [index, { line, checked }] of items.entries()) {
    if (!(checked instanceof Problem) || checked.status !== INVALID) continue;
    const own = checked.options.errors ?? [
      { pointer: '', code: checked.code, detail: checked.detail ?? checked.title },
    ];
    const shown = own.slice(0, MOST_ERRORS - errors.length);
    for (const { pointer, code, detail } of shown)
      errors.push({
        pointer: `/readings/${index}${pointer}`,
        code,
        detail: line === null ? detail : `line ${line}: ${detail}`,
      });
    omitted += own.length - shown.length;
  }
  if (errors.length > 0) return invalidRequest(errors, omitted);
  return items.map(({ checked }) => checked).find((one) => one instanceof Problem) ?? null;
};
