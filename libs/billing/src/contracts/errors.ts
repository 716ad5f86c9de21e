/** The workspace has no credit book. */
export class BookNotOpen extends Error {
  override readonly name = 'BookNotOpen';
  constructor(readonly workspaceId: string) {
    super(`Workspace ${workspaceId} has no credit book`);
  }
}
