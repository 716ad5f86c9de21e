import { type Figure, indebtedFigure } from '../arithmetic/figure.js';
import { reduce } from '../arithmetic/reduce.js';
import type { CalendarDate } from '../calendar/calendar-date.js';

export interface DatePart {
  readonly component: 'month' | 'day' | 'year';
  /** reduced, masters kept */
  readonly value: number;
  readonly from: number;
}

export interface LifePath extends Figure {
  readonly parts: readonly DatePart[];
}

export interface Birthday extends Figure {
  /** 1–31 */
  readonly day: number;
}

/**
 * Life Path by components (Decoz, World Numerology): red(red(month) + red(day) + red(year)).
 * A karmic debt counts only in the final sum, not in a component.
 */
export function lifePath(birth: CalendarDate): LifePath {
  const parts = (['month', 'day', 'year'] as const).map((component): DatePart => ({
    component,
    value: reduce(birth[component]),
    from: birth[component],
  }));
  return { ...indebtedFigure(parts.reduce((sum, part) => sum + part.value, 0)), parts };
}

/** Birthday: red(day). Days 11, 22 and 29 (→ 11) give a master, days 13, 14, 16 and 19 a debt. */
export const birthday = (birth: CalendarDate): Birthday => ({ ...indebtedFigure(birth.day), day: birth.day });
