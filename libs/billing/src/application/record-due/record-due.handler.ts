import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RecordDue } from '../../contracts/commands.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(RecordDue)
export class RecordDueHandler implements ICommandHandler<RecordDue> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, by }: RecordDue): Promise<void> {
    await this.books.execute(workspaceId, (now) => ({ type: 'RecordDue', now }), `due:${by.causationId}`, by);
  }
}
