import { z } from 'zod';
import { count, milliseconds, setting, span } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** An account in the company's own books, as its journal names it. */
const accountCode = (fallback: string, description: string) =>
  setting(z.string().min(1).max(40).default(fallback), `account code in journal.csv: ${description}`);

/** Somebody who may sign corrections, as the setting OPERATORS names them. */
export interface Operator {
  readonly name: string;
  /** Ed25519: base64 of the DER (SPKI). */
  readonly publicKey: string;
  /** `retired`: it proves what it signed, and signs no more. */
  readonly state: 'active' | 'retired';
}

const NAMED = /^([a-z0-9][a-z0-9._-]{0,39}):([A-Za-z0-9+/=]+)(?::(active|retired))?$/;

/** Reads the setting OPERATORS: `<name>:<public key>[:retired]`, separated by commas or lines. @throws Error */
export const parseOperators = (text: string): readonly Operator[] => {
  const operators = text.split(/[\s,]+/).flatMap((one) => (one === '' ? [] : parseOperator(one)));
  const active = operators.filter(({ state }) => state === 'active').map(({ name }) => name);
  const twice = [active, operators.map(({ publicKey }) => publicKey)].flatMap((all) =>
    all.filter((one, index) => all.indexOf(one) !== index),
  );
  if (twice.length > 0) throw new Error(`names ${twice[0]} twice`);
  return operators;
};

/**
 * The DER of an Ed25519 key: twelve bytes that are the same in all, and 32 of the key. The last character has two unused
 * bits, which are 0, so that a key has one text.
 */
const ED25519 = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

const parseOperator = (text: string): Operator => {
  const [, name, publicKey, state = 'active'] = NAMED.exec(text) ?? [];
  if (!name || !publicKey) throw new Error(`has "${text}" in place of <name>:<public key>[:retired]`);
  if (!ED25519.test(publicKey)) throw new Error(`has no Ed25519 public key for ${name}`);
  return { name, publicKey, state: state as Operator['state'] };
};

/** A fault says which one is wrong. */
const operators = z
  .string()
  .default('')
  .transform((text, context) => {
    try {
      return parseOperators(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });

/** How holds are fenced, the ledger reconciled and corrected, and its journal written. */
export const settings = {
  RESERVATION_FENCE_MS: span(60_000, 'age at which a hold without a reading is abandoned and released'),
  RESERVATION_SWEEP_MS: milliseconds(
    15_000,
    'interval between sweeps: for holds without a reading, for idle books, and for a reconciliation that is due',
  ),
  LEDGER_RECONCILE_EVERY_MS: span(
    3_600_000,
    'how often one worker compares captures, completed readings and balances',
  ),
  LEDGER_RECONCILE_GRACE_MS: span(
    60_000,
    'how long a completed reading may wait for its capture before it counts as a difference',
  ),
  OPERATORS: setting(
    operators,
    'who may correct the ledger: <name>:<Ed25519 public key in base64> of each, separated by commas. With :retired behind it, a key proves what it signed and signs no more: never remove one. For ops and workers',
  ),
  OPERATOR_KEY_FILE: setting(
    z.string().min(1).optional(),
    'private key of the operator who runs ops, only readable by its owner; never for API or worker',
  ),
  CORRECTION_MAX_CREDITS: count(
    10_000,
    'most credits of one correction, the amounts of its entries without signs',
  ),
  LEDGER_ACCOUNT_RECEIVABLE: accountCode('1200', 'what customers owe or paid for plans and packs'),
  LEDGER_ACCOUNT_DEFERRED: accountCode('2400', 'value of credits sold and not yet used'),
  LEDGER_ACCOUNT_REFUNDS: accountCode('2450', 'value of refunded credits, to be paid back'),
  LEDGER_ACCOUNT_REVENUE: accountCode('4000', 'value of credits that readings earned'),
  LEDGER_ACCOUNT_BREAKAGE: accountCode('4100', 'value of credits that expired'),
  LEDGER_ACCOUNT_CORRECTIONS: accountCode(
    '4900',
    'value of credits that corrections withdrew without money back',
  ),
};

export type Config = ConfigWith<typeof settings>;
