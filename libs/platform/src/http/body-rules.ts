import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, Max, Min, ValidateIf } from 'class-validator';

/** Options of a decorator in a body: the error's detail and code. */
const rule = (message: string, code: string) => ({ message, context: { code } });

export const required = rule('is required', 'required');
export const stringType = rule('must be a string or null', 'invalid_type');
export const listType = rule('must be an array of strings', 'invalid_type');
export const booleanType = rule('must be true or false', 'invalid_type');

/** The member may be left out, but may not be null, unlike with `IsOptional`. */
export const IfSent = () => ValidateIf((_, value) => value !== undefined);
/** The member may be left out or null. */
export const IfSentAndNotNull = () => ValidateIf((_, value) => value !== undefined && value !== null);

type Shown = Parameters<typeof ApiPropertyOptional>[0];

/** A member that may be left out, but may not be null, with its check and what the API's description shows of it. */
export const OptionalField = (check: PropertyDecorator, shown: Shown) =>
  applyDecorators(ApiPropertyOptional(shown), IfSent(), check);
/** The same of a member that may be null, too. */
export const NullableField = (check: PropertyDecorator, shown: Shown) =>
  applyDecorators(ApiPropertyOptional(shown), IfSentAndNotNull(), check);

/** One of these values. */
export const OneOf = (values: readonly string[], code = 'invalid_value') =>
  IsIn(values, rule(`must be one of ${values.join(', ')}`, code));

interface Seconds {
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
  readonly examples: number[];
}

/** A whole number of seconds within bounds, which may be left out. */
export const SecondsField = ({ minimum, maximum, ...shown }: Seconds) => {
  const range = rule(`must be a whole number of seconds from ${minimum} to ${maximum}`, 'invalid_value');
  const checks = applyDecorators(IsInt(range), Min(minimum, range), Max(maximum, range));
  return OptionalField(checks, { type: 'integer', minimum, maximum, ...shown });
};

/** How long a replaced secret still works, by default, and at most (s). */
export const DAY_SECONDS = 86_400;
export const MAX_OVERLAP_SECONDS = 604_800;
