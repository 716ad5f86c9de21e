import { setImmediate as turn } from 'node:timers/promises';
import { BodyPipe } from '@app/platform/http/body.pipe.js';
import { Problem, invalidRequest, type FieldError } from '@app/platform/http/problem.js';
import { parseStrictJson, toPointer } from '@app/platform/http/strict-json.js';
import { BATCH_MODES, type BatchMode } from '../contracts/events.js';

export const MOST_READINGS = 1_000;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** One reading of the body. `line`: of NDJSON, from 1. */
export interface BulkItem<T> {
  readonly line: number | null;
  readonly checked: T | Problem;
}

export interface BulkBody<T> {
  readonly mode: BatchMode;
  readonly items: readonly BulkItem<T>[];
}

/** Readings checked before other requests get their turn: some milliseconds. */
const AT_ONCE = 10;

const inTurns = async <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> => {
  const done: R[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    if (from > 0) await turn();
    done.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(work))));
  }
  return done;
};

const modeOf = (value: unknown, pointer: string): BatchMode => {
  const mode = BATCH_MODES.find((one) => one === value);
  if (mode) return mode;
  const detail = `must be one of ${BATCH_MODES.join(', ')}`;
  const code = value === undefined ? 'required' : 'invalid_value';
  throw invalidRequest([{ pointer, code, detail }]);
};

/**
 * Reads a bulk body: parsed JSON, or the bytes of NDJSON. A reading that is not valid is a problem of its own.
 * @param queryMode `?mode=`, for NDJSON only
 * @throws Problem validation_failed when the whole is not well formed
 */
export const readBulkBody = async <T extends object>(
  body: unknown,
  queryMode: string | undefined,
  metatype: new () => T,
): Promise<BulkBody<T>> => {
  if (Buffer.isBuffer(body)) return readLines(body, modeOf(queryMode, '?mode'), metatype);
  const { mode, readings } = membersOf(body, queryMode);
  const items = await inTurns(readings, async (one) => ({ line: null, checked: await check(one, metatype) }));
  return { mode, items };
};

const membersOf = (body: unknown, queryMode: string | undefined) => {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidRequest([{ pointer: '', code: 'invalid_type', detail: 'must be an object' }]);
  const { mode, readings, ...unknown } = body as { mode?: unknown; readings?: unknown };
  const errors: FieldError[] = Object.keys(unknown).map((name) => ({
    pointer: toPointer([name]),
    code: 'unknown_field',
    detail: 'is not a field of this request',
  }));
  if (queryMode !== undefined)
    errors.push({ pointer: '?mode', code: 'invalid_value', detail: 'belongs into the body of JSON' });
  if (!Array.isArray(readings)) {
    const code = readings === undefined ? 'required' : 'invalid_type';
    errors.push({ pointer: '/readings', code, detail: 'must be an array of readings' });
  }
  if (errors.length > 0) throw invalidRequest(errors);
  const list = readings as readonly unknown[];
  checkCount(list.length);
  return { mode: modeOf(mode, '/mode'), readings: list };
};

const checkCount = (count: number): void => {
  if (count >= 1 && count <= MOST_READINGS) return;
  const code = count === 0 ? 'too_few' : 'too_many';
  const detail = `must have 1 to ${MOST_READINGS} readings`;
  throw invalidRequest([{ pointer: '/readings', code, detail }]);
};

const readLines = async <T extends object>(
  bytes: Buffer,
  mode: BatchMode,
  metatype: new () => T,
): Promise<BulkBody<T>> => {
  const lines = linesOf(bytes);
  checkCount(lines.length);
  const items = await inTurns(lines, async ({ line, text }) => ({
    line,
    checked: await checkLine(text, metatype),
  }));
  return { mode, items };
};

/** Lines of a body, empty ones too. Millions of them would take seconds to pass over. */
const MOST_LINES = 10 * MOST_READINGS;

/** Lines with something on them, numbered from 1. Stops after one line too many. @throws Problem for too many lines */
const linesOf = (bytes: Buffer): readonly { line: number; text: Buffer }[] => {
  const lines = [];
  for (let start = 0, line = 1; start < bytes.length && lines.length <= MOST_READINGS; line += 1) {
    if (line > MOST_LINES) {
      const detail = `must have at most ${MOST_LINES} lines, empty ones too`;
      throw invalidRequest([{ pointer: '', code: 'too_many', detail }]);
    }
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const text = bytes.subarray(start, bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
    if (text.length > 0) lines.push({ line, text });
    start = end + 1;
  }
  return lines;
};

const checkLine = async <T extends object>(text: Buffer, metatype: new () => T): Promise<T | Problem> => {
  try {
    return await check(parseStrictJson(text), metatype);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

const pipe = new BodyPipe();

const check = async <T extends object>(value: unknown, metatype: new () => T): Promise<T | Problem> => {
  try {
    return (await pipe.transform(value, { type: 'body', metatype })) as T;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

const INVALID = 400;

/**
 * The refusal of a batch of mode `all` with readings that are not valid. Pointers begin with that of the reading. When all
 * are valid, and some asked for a refusal of their own (`metadata.test_outcome`), the batch gets the first of these.
 */
export const refusalOfAll = (items: readonly BulkItem<unknown>[]): Problem | null => {
  const errors = items.flatMap(({ line, checked }, index): FieldError[] => {
    if (!(checked instanceof Problem) || checked.status !== INVALID) return [];
    const own = checked.options.errors ?? [
      { pointer: '', code: checked.code, detail: checked.detail ?? checked.title },
    ];
    return own.map(({ pointer, code, detail }) => ({
      pointer: `/readings/${index}${pointer}`,
      code,
      detail: line === null ? detail : `line ${line}: ${detail}`,
    }));
  });
  if (errors.length > 0) return invalidRequest(errors);
  return items.map(({ checked }) => checked).find((one) => one instanceof Problem) ?? null;
};
