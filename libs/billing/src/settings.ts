import { z } from 'zod';
import { milliseconds, setting } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** Codes of the accounts in the company's own books, as its journal names them. */
const ACCOUNTS = {
  receivable: '1200',
  deferred: '2400',
  refunds: '2450',
  revenue: '4000',
  breakage: '4100',
  corrections: '4900',
};

const isAccount = (name: string): name is keyof typeof ACCOUNTS => Object.hasOwn(ACCOUNTS, name);

/** `<account>=<code>`, separated by commas; the others keep theirs. */
const accountCodes = z
  .string()
  .default('')
  .transform((text, context) => {
    const codes = { ...ACCOUNTS };
    for (const part of text.split(',').filter(Boolean)) {
      const [name = '', code = ''] = part.split('=').map((one) => one.trim());
      if (isAccount(name) && code.length > 0 && code.length <= 40) codes[name] = code;
      else
        context.addIssue({
          code: 'custom',
          message: `must be <account>=<code of 1 to 40 characters>, separated by commas, of ${Object.keys(ACCOUNTS).join(', ')}`,
        });
    }
    return codes;
  });

/** Somebody who may sign corrections, as the setting OPERATORS names them. */
export interface Operator {
  readonly name: string;
  /** Ed25519: base64 of the DER (SPKI). */
  readonly publicKey: string;
  /** `retired`: it proves what it signed before `retiredAt` (milliseconds; `null`: active), and signs no more. */
  readonly state: 'active' | 'retired';
  readonly retiredAt: number | null;
}

const NAMED = /^([a-z0-9][a-z0-9._-]{0,39}):([A-Za-z0-9+/=]+)(?::(active|retired(?:=.*)?))?$/;

/** Reads the setting OPERATORS: `<name>:<public key>[:retired=<RFC 3339, UTC>]`, separated by commas or lines. @throws Error */
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
  if (!name || !publicKey)
    throw new Error(`has "${text}" in place of <name>:<public key>[:retired=<instant>]`);
  if (!ED25519.test(publicKey)) throw new Error(`has no Ed25519 public key for ${name}`);
  if (state === 'active') return { name, publicKey, state, retiredAt: null };
  const since = z.iso.datetime().safeParse(state.slice('retired='.length));
  if (!since.success)
    throw new Error(
      `says not since when a key of ${name} is retired: write :retired=<instant>, as 2026-04-01T12:00:00Z`,
    );
  return { name, publicKey, state: 'retired', retiredAt: Date.parse(since.data) };
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
  RESERVATION_FENCE_MS: milliseconds(
    60_000,
    'age at which a hold without a reading is abandoned and released; workers look four times as often, also for idle books',
  ),
  OPERATORS: setting(
    operators,
    'who may correct the ledger: <name>:<Ed25519 public key in base64> of each, separated by commas. With :retired=<RFC 3339, UTC> behind it, a key signs no more, and proves only what is dated before: never remove one. For ops and workers',
  ),
  OPERATOR_KEY_FILE: setting(
    z.string().min(1).optional(),
    'private key of the operator who runs ops, only readable by its owner; never for API or worker',
  ),
  LEDGER_ACCOUNTS: setting(accountCodes, 'account codes in journal.csv; one that is left out keeps this one'),
};

export type Config = ConfigWith<typeof settings>;
