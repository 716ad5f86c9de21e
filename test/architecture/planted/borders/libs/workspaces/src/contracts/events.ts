export const workspaceOpened = 'WorkspaceOpened';
