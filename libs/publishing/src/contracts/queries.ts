import { Query } from '@app/platform/cqrs/message.js';
import type { Paper } from './paper.js';

/** The paper that a workspace has chosen for its PDFs; `by-locale` until it chooses. */
export class GetPaper extends Query<Paper> {
  constructor(readonly workspaceId: string) {
    super();
  }
}
