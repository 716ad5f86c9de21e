import { ApiQuery } from '@nestjs/swagger';
import { modeOf } from '#platform/auth/livemode.js';
import type { Principal } from '#platform/auth/authentication.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { parseInstant } from '#platform/http/instant.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { isUuid } from '#platform/text/uuid.js';

/** Query parameters as Express parses them: a repeated parameter is an array. */
export type QueryValue = string | readonly string[] | undefined;

const refuse = (name: string, code: string, detail: string): never => {
  throw invalidParameter(name, detail, code);
};

/** A choice of allowed values, comma-separated or repeated, sorted like `allowed`; `null`: absent. @throws Problem with `code` */
export const readChoice = <T extends string>(
  name: string,
  value: QueryValue,
  allowed: readonly T[],
  code = 'invalid_value',
): readonly T[] | null => {
  if (value === undefined) return null;
  const chosen = new Set([value].flat().flatMap((part) => part.split(',')));
  const known = allowed.filter((one) => chosen.has(one));
  return known.length === chosen.size
    ? known
    : refuse(name, code, `must be one or more of ${allowed.join(', ')}`);
};

/** An instant, canonical; `null` when the parameter is absent. @throws Problem validation_failed */
export const readInstant = (name: string, value: QueryValue): string | null =>
  value === undefined
    ? null
    : (parseInstant(String(value)) ??
      refuse(name, 'invalid_value', 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z'));

/** `true` or `false`; false when the parameter is absent. @throws Problem validation_failed */
export const readFlag = (name: string, value: QueryValue): boolean => {
  if (value === undefined || value === 'false') return false;
  return value === 'true' ? true : refuse(name, 'invalid_value', 'must be true or false');
};

/** Describes an optional query parameter that holds an instant. */
export const InstantQuery = (name: string, description: string) =>
  ApiQuery({ name, required: false, description, schema: { type: 'string', format: 'date-time' } });

/** Describes an optional query parameter that `readChoice` reads. */
export const ChoiceQuery = (name: string, values: readonly string[], description = 'Comma-separated') => {
  const schema = { type: 'array' as const, items: { type: 'string', enum: [...values] } };
  return ApiQuery({ name, required: false, description, schema, explode: false });
};

export const LIVEMODE_SHOWN = {
  name: 'livemode',
  required: false,
  description: 'Of live or of test readings; default: both. Only for bearer tokens: a key sees its own mode',
  schema: { type: 'boolean' as const },
};

/** The modes that a list shows: those that the caller sees, or the one of them that it asks for. @throws Problem */
export const readModes = (
  livemode: QueryValue,
  { authMode, sees }: Pick<Principal, 'authMode' | 'sees'>,
): readonly Mode[] => {
  if (livemode === undefined) return sees;
  if (authMode === 'apiKey')
    return refuse('livemode', 'invalid_value', 'is for bearer tokens: a key sees its own mode');
  const mode = modeOf(readFlag('livemode', livemode));
  return sees.filter((one) => one === mode);
};

/** A UUID in lower case; `null` when the parameter is absent. @throws Problem validation_failed */
export const readUuid = (name: string, value: QueryValue): string | null => {
  if (value === undefined) return null;
  const text = String(value).toLowerCase();
  return isUuid(text) ? text : refuse(name, 'invalid_value', 'must be a UUID');
};
