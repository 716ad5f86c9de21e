// caught by: contracts-are-light
import { Command } from '@nestjs/cqrs';

export class DeleteEndpoint extends Command<void> {}
