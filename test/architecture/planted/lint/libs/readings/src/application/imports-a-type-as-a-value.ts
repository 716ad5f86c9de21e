// caught by: own(type-imports): type
import { CommandBus } from '@nestjs/cqrs';

export type Bus = CommandBus;
