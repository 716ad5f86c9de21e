import {
  createParamDecorator,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { BodyPipe } from '@app/platform/http/body.pipe.js';

/** Checks an optional body as any other body is checked. */
class OptionalBodyPipe implements PipeTransform {
  private readonly body = new BodyPipe();

  transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return this.body.transform(value, { ...metadata, type: 'body' });
  }
}

const bodyOrEmpty = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => context.switchToHttp().getRequest<Request>().body ?? {},
);

/** Parameter decorator: the request's body, where none at all means `{}`. */
export const OptionalBody = () => bodyOrEmpty(new OptionalBodyPipe());
