import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { BOOKLET_EXECUTOR, type BookletExecutor } from '../../booklet.executor.js';
import type { Paper } from '../../contracts/paper.js';
import { GetPaper } from '../../contracts/queries.js';

@QueryHandler(GetPaper)
export class GetPaperHandler implements IQueryHandler<GetPaper> {
  constructor(@Inject(BOOKLET_EXECUTOR) private readonly booklets: BookletExecutor) {}

  async execute({ workspaceId }: GetPaper): Promise<Paper> {
    return (await this.booklets.load(workspaceId)).state.paper;
  }
}
