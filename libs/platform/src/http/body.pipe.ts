import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validate, ValidationTypes, type ValidationError } from 'class-validator';
import { Problem, invalidRequest, type FieldError } from './problem.js';
import { toPointer } from './strict-json.js';

/** A DTO whose fields have rules beyond their shape. The answer reports errors of both kinds at once. */
export interface SelfChecking {
  /**
   * @param sound whether a property passed the shape checks, including nested ones
   * @param now milliseconds since the epoch
   */
  fieldErrors(sound: (property: string) => boolean, now: number): FieldError[];
}

/** What is checked in place of an array where an object belongs: it is refused likewise. */
const NO_OBJECT = 0;

const isSelfChecking = (dto: object): dto is SelfChecking =>
  'fieldErrors' in dto && typeof dto.fieldErrors === 'function';

/**
 * Validates bodies against their DTO. Refuses unknown members at any depth, reports all errors at once, and never
 * repeats values. A decorator's `context: { code }` becomes the error's code.
 */
@Injectable()
export class BodyPipe implements PipeTransform {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    if (type !== 'body' || metatype === undefined || metatype === Object) return value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Problem('validation_failed', {
        detail: 'The body must be a JSON object',
        errors: [{ pointer: '', code: 'invalid_type', detail: 'must be an object' }],
      });
    }
    const dto = plainToInstance(metatype, withoutArrays(value, metatype)) as object;
    const errors = await validate(dto, {
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      validationError: { target: false, value: false },
    });
    const unsound = new Set(errors.filter(isMisshapen).map(({ property }) => property));
    const problems = flatten(errors, []);
    if (isSelfChecking(dto))
      problems.push(...dto.fieldErrors((property) => !unsound.has(property), Date.now()));
    if (problems.length > 0) throw invalidRequest(problems);
    return dto;
  }
}

/** The members of a DTO that are nested objects, not lists of them. */
const nestedObjectsOf = (metatype: new () => unknown): readonly string[] =>
  getMetadataStorage()
    .getTargetValidationMetadatas(metatype, '', true, false)
    .filter(({ type, each }) => type === ValidationTypes.NESTED_VALIDATION && !each)
    .map(({ propertyName }) => propertyName);

/** For a nested object, class-validator takes an array as well, and checks each of its thousands of elements. */
const withoutArrays = (value: object, metatype: new () => unknown): object => {
  const arrays = nestedObjectsOf(metatype).filter((name) =>
    Array.isArray((value as Record<string, unknown>)[name]),
  );
  return arrays.length === 0
    ? value
    : { ...value, ...Object.fromEntries(arrays.map((name) => [name, NO_OBJECT])) };
};

/** Whether a declared member has the wrong shape. An unknown member does not stop the checks of the others. */
const isMisshapen = ({ constraints = {}, children = [] }: ValidationError): boolean =>
  Object.keys(constraints).some((name) => name !== 'whitelistValidation') || children.some(isMisshapen);

const flatten = (errors: readonly ValidationError[], path: readonly string[]): FieldError[] =>
  errors.flatMap((error) => {
    const here = [...path, error.property];
    const constraints = Object.entries(error.constraints ?? {});
    const first = constraints.find(([name]) => name === 'isDefined') ?? constraints[0];
    const own = first ? [fieldError(error, here, first[0], first[1])] : [];
    return [...own, ...flatten(error.children ?? [], here)];
  });

const fieldError = (
  error: ValidationError,
  path: readonly string[],
  constraint: string,
  message: string,
): FieldError => {
  if (constraint === 'whitelistValidation') {
    return { pointer: toPointer(path), code: 'unknown_field', detail: 'is not a field of this request' };
  }
  const context = error.contexts?.[constraint] as { code?: string; pointer?: string } | undefined;
  return {
    pointer: toPointer(path) + (context?.pointer ?? ''),
    code: context?.code ?? 'invalid_value',
    detail: message.replace(new RegExp(`^${escapeRegExp(error.property)} `), ''),
  };
};

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
