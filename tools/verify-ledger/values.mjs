/** Accounts of a book, and how its values are compared and hashed. */
import { createHash } from 'node:crypto';

export const ACCOUNTS = [
  'issued:plan',
  'issued:pack',
  'adjusted',
  'available',
  'held',
  'consumed',
  'expired',
];

export const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');

/** JSON with members sorted by UTF-16 code units and no white space (RFC 8785 for what a ledger holds). */
export const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
};
export const same = (a, b) => canonical(a ?? null) === canonical(b ?? null);

export const perAccount = (value) => Object.fromEntries(ACCOUNTS.map((account) => [account, value(account)]));
export const sum = (items, amount) => items.reduce((total, item) => total + amount(item), 0);
