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
 * A karmic debt counts in the final sum only, not inside a component.
 */
export function lifePath(birth: CalendarDate): LifePath {
  const parts = (['month', 'day', 'year'] as const).map((component): DatePart => ({
    component,
    value: reduce(birth[component]),
    from: birth[component],
  }));
  return { ...indebtedFigure(parts.reduce((sum, part) => sum + part.value, 0)), parts };
}

/** Birthday: red(day). The masters are 11, 22 and 29 → 11; a debt only if the day itself is 13, 14, 16 or 19. */
export const birthday = (birth: CalendarDate): Birthday => ({ ...indebtedFigure(birth.day), day: birth.day });
