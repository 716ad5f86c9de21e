// caught by: eslint(no-restricted-imports): in memory
import * as cqrs from '@nestjs/cqrs';

export const bus = cqrs.CommandBus;
