/**
 * The value of credits over some time, in whole cents. opening + sales − earned − breakage − corrections − refunds = closing.
 *
 * A credit has the value of its grant: the price of the plan or pack over its credits. An entry that reverses another one
 * moves value back to where it was. Other corrections upward are gifts without value.
 */
export interface Money {
  /** ISO 4217. */
  readonly currency: string;
  /** Deferred at the start: the value of credits sold before and not yet used. */
  readonly opening: number;
  /** Prices of the plans and packs granted. */
  readonly sales: number;
  /** Value of the credits that completed readings captured, less that of refunded readings. May be negative. */
  readonly earned: number;
  /** Value of the credits that expired, less that of reversed expiries. May be negative. */
  readonly breakage: number;
  /** Value of the credits that were withdrawn without money back, less what came back of it. May be negative. */
  readonly corrections: number;
  /** To be paid back for plans and packs, less what undone refunds brought back. May be negative. */
  readonly refunds: number;
  /** Deferred at the end. */
  readonly closing: number;
}

export const MONEY_FIGURES = [
  'opening',
  'sales',
  'earned',
  'breakage',
  'corrections',
  'refunds',
  'closing',
] as const;
