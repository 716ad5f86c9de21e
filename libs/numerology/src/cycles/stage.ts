import { type Figure, figure } from '../arithmetic/figure.js';

/** A part of life with one number. It starts and ends on birthdays: "from your 32nd birthday". */
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
 * Creates consecutive stages from birth, one per value. `thresholds` are the ages at which the later ones begin. The
 * values are already reduced, so a stage's chain contains only its value.
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
