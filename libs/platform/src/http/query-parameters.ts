import { invalidRequest, type FieldError, type Problem } from './problem.js';

/** Maximum number of reported errors per request; a query can contain thousands. */
const MOST_ERRORS = 20;
/**
 * More than any route has: a longer query contains errors, and the parser that fills `request.query` stops at 1,000.
 */
const MAX_PARAMETERS = 100;

/** The pointer of a query parameter in `errors[].pointer`. */
export const parameterPointer = (name: string): string => `?${name}`;

/** A 400 for one query parameter. */
export const invalidParameter = (name: string, detail: string, code = 'invalid_value'): Problem =>
  invalidRequest([{ pointer: parameterPointer(name), code, detail }]);

/**
 * Checks the names of a query against those that a route knows.
 * @param query the raw text after the question mark
 * @param known names, and whether a parameter may repeat
 * @throws Problem unknown_parameter or validation_failed with every name at fault, 20 at most
 */
export const checkParameters = (query: string, known: ReadonlyMap<string, boolean>): void => {
  const seen = new Set<string>();
  const errors = new Map<string, FieldError>();
  for (const [place, name] of [...new URLSearchParams(query).keys()].entries()) {
    const mayRepeat = known.get(name);
    const isBeyond = place >= MAX_PARAMETERS;
    if (mayRepeat === undefined) errors.set(name, unknown(name, known));
    else if ((seen.has(name) && !mayRepeat) || isBeyond) errors.set(name, twice(name));
    seen.add(name);
    if (errors.size === MOST_ERRORS || (isBeyond && errors.size > 0)) break;
  }
  if (errors.size > 0) throw invalidRequest([...errors.values()]);
};

/** Repeats what looks like a name, as for members of a body. Other text may be a misplaced value. */
const tellable = (name: string): string => (/^[\w.[\]-]{1,64}$/.test(name) ? parameterPointer(name) : '?');

const unknown = (name: string, known: ReadonlyMap<string, boolean>): FieldError => ({
  pointer: tellable(name),
  code: 'unknown_parameter',
  detail: `is not a parameter of this request; it has ${[...known.keys()].toSorted().join(', ') || 'none'}`,
});

const twice = (name: string): FieldError => ({
  pointer: parameterPointer(name),
  code: 'duplicate_parameter',
  detail: 'must come once',
});
