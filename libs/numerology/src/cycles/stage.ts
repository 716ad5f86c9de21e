import { type Figure, figure } from '../arithmetic/figure.js';

/** A stretch of life under one number. Ages are birthdays: "from your 32nd birthday". */
export interface Stage extends Figure {
  /** from 1 */
  readonly index: number;
  /** years, inclusive */
  readonly fromAge: number;
  /** years, exclusive; null for the last stage */
  readonly toAge: number | null;
  readonly fromYear: number;
  readonly toYear: number | null;
  readonly current: boolean;
}

/**
 * Lays one stage per value end to end from birth; `thresholds` are the ages at which the later ones begin. The values
 * come reduced from the date, so the chain of a stage is its value alone.
 */
export function stages(
  values: readonly number[],
  thresholds: readonly number[],
  birthYear: number,
  age: number,
): Stage[] {
  const starts = [0, ...thresholds];
  return values.map((value, at): Stage => {
    const fromAge = starts[at] ?? 0;
    const toAge = starts[at + 1] ?? null;
    return {
      index: at + 1,
      fromAge,
      toAge,
      fromYear: birthYear + fromAge,
      toYear: toAge === null ? null : birthYear + toAge,
      current: age >= fromAge && (toAge === null || age < toAge),
      ...figure(value),
    };
  });
}
