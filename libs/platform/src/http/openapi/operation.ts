import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse } from '@nestjs/swagger';
import type { ContentObject } from './document-types.js';
import { z } from 'zod';
import type { ProblemCode } from '../problem.js';
import { refTo } from './api-schema.js';
import { headers, type ApiHeaderName } from './headers.js';

export const REFUSALS = 'openapi:refusals';

/**
 * Describes an answer of success.
 * @param body its shape (JSON), or its content by media type; left out: an answer without a body
 * @param carries headers beyond those that every answer has
 */
export const Answers = (
  status: number,
  description: string,
  body?: z.ZodType | ContentObject,
  carries: readonly ApiHeaderName[] = [],
) =>
  ApiResponse({
    status,
    description,
    headers: headers(carries),
    ...(body === undefined
      ? {}
      : { content: body instanceof z.ZodType ? { 'application/json': { schema: refTo(body) } } : body }),
  });

/**
 * Names the problems that a route's own work can answer with. Those of its credentials, rate, body, idempotency and
 * parameters are derived from how it is declared.
 */
export const Refuses = (...codes: readonly ProblemCode[]) => SetMetadata(REFUSALS, codes);

export const NAMED_REFUSALS = 'openapi:named';

/** The route works on something that its path names: an id of this form, of the caller's workspace. */
export const Names = (
  parameter: string,
  unknown: ProblemCode,
  { description, example }: { readonly description: string; readonly example: string },
) =>
  applyDecorators(
    ApiParam({ name: parameter, description, schema: { type: 'string', examples: [example] } }),
    SetMetadata(NAMED_REFUSALS, [unknown, 'wrong_workspace'] satisfies ProblemCode[]),
  );
