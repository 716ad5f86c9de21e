import { Query } from '@nestjs/cqrs';

export class WorkspaceExists extends Query<boolean> {
  constructor(readonly workspaceId: string) {
    super();
  }
}
