import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse } from '@nestjs/swagger';
import type { ContentObject } from './document-types.js';
import { z } from 'zod';
import type { CodeWithStatus, ProblemCode } from '../problem.js';
import { refTo } from './api-schema.js';
import { headers, type ApiHeaderName } from './headers.js';

export const REFUSALS = 'openapi:refusals';

/**
 * Describes a successful answer.
 * @param body its schema (JSON), or its content by media type; omitted: an answer without a body
 * @param carries headers in addition to those of every answer
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
 * Lists the problems that a route's own work can return. Problems of credentials, rate, body, idempotency and
 * parameters follow from the route's declaration.
 */
export const Refuses = (...codes: readonly (ProblemCode | CodeWithStatus)[]) => SetMetadata(REFUSALS, codes);

export const NAMED_REFUSALS = 'openapi:named';

/** Declares that the route's path contains the id, of this form, of a resource in the caller's workspace. */
export const Names = (
  parameter: string,
  unknown: ProblemCode,
  { description, example }: { readonly description: string; readonly example: string },
) =>
  applyDecorators(
    ApiParam({ name: parameter, description, schema: { type: 'string', examples: [example] } }),
    SetMetadata(NAMED_REFUSALS, [unknown, 'wrong_workspace'] satisfies ProblemCode[]),
  );
