import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { OpenBook } from '../../contracts/commands.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(OpenBook)
export class OpenBookHandler implements ICommandHandler<OpenBook> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, by }: OpenBook): Promise<void> {
    await this.books.execute(workspaceId, (now) => ({ type: 'OpenBook', workspaceId, now }), 'open', by);
  }
}
