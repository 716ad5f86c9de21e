import {
  createParamDecorator,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { BodyPipe } from './body.pipe.js';

/** Checks an optional body like any other body. */
class OptionalBodyPipe implements PipeTransform {
  private readonly body = new BodyPipe();

  transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return this.body.transform(value, { ...metadata, type: 'body' });
  }
}

const bodyOrEmpty = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => context.switchToHttp().getRequest<Request>().body ?? {},
);

/** Parameter decorator: the request's body; `{}` without one. */
export const OptionalBody = () => bodyOrEmpty(new OptionalBodyPipe());
