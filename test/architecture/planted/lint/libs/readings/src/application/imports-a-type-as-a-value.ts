// caught by: @typescript-eslint/consistent-type-imports: type
import { CommandBus } from '@nestjs/cqrs';

export type Bus = CommandBus;
