/**
 * The value of credits over some time, in whole cents. opening + sales − earned − breakage − corrections = closing.
 *
 * A credit has the value of its grant: the price of the plan or pack over its credits. Corrections upward are gifts
 * without value, except for those that undo the refund of a pack.
 */
export interface Money {
  /** ISO 4217. */
  readonly currency: string;
  /** Deferred at the start: the value of credits sold before and not yet used. */
  readonly opening: number;
  /** Prices of the plans and packs granted. */
  readonly sales: number;
  /** Value of the credits that completed readings captured. */
  readonly earned: number;
  /** Value of the credits that expired. */
  readonly breakage: number;
  /** Value of the credits that downward corrections removed, less what undone refunds brought back. May be negative. */
  readonly corrections: number;
  /** Deferred at the end. */
  readonly closing: number;
}

export const MONEY_FIGURES = ['opening', 'sales', 'earned', 'breakage', 'corrections', 'closing'] as const;
