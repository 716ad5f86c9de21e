import { InvalidArgumentError } from 'commander';
import { parseInstant as canonicalInstant } from '#platform/http/instant.js';
import { isUuid } from '#platform/text/uuid.js';

/** The end of the help of a command. */
export const example = (typed: string): string => `\nExample:\n  ops ${typed}`;

/** A whole number within bounds. */
export const wholeFrom =
  (least: number, most = 999_999_999) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
  };

export const wholeNumber = wholeFrom(1);

/** Text without surrounding space, such as a reference, a reason or a path: an unset variable leaves an empty one. */
export const someText = (text: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidArgumentError('must not be empty');
  return trimmed;
};

/** An instant (RFC 3339) or a day (its midnight UTC) that exists, in milliseconds. */
export const parseInstant = (text: string): number => {
  const canonical = canonicalInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (canonical === null)
    throw new InvalidArgumentError(
      'must be a day that exists, or an RFC 3339 instant such as 2026-04-01T00:00:00Z',
    );
  return Date.parse(canonical);
};

/** In lowercase. */
export const parseUuid = (text: string): string => {
  if (!isUuid(text.toLowerCase())) throw new InvalidArgumentError('must be a UUID');
  return text.toLowerCase();
};

/** Some of these scopes, each once. */
export const scopesAmong =
  (allowed: readonly string[], separator = /[\s,]+/) =>
  (text: string): readonly string[] => {
    const scopes = [...new Set(text.split(separator).filter(Boolean))];
    const unknown = scopes.filter((scope) => !allowed.includes(scope));
    if (scopes.length === 0 || unknown.length > 0)
      throw new InvalidArgumentError(`${unknown.join(' ')} is not a scope: use ${allowed.join(' ')}`);
    return scopes;
  };
