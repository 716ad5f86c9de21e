import { ValidateIf } from 'class-validator';

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
