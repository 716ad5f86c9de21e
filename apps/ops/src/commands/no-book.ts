import { OpsError } from '../ops-error.js';

export const noBook = (workspaceId: string): OpsError =>
  new OpsError(`Workspace ${workspaceId} has no credit book: nothing was changed.`);
