import type { ModuleManifest } from '#platform/manifest.js';
import { settings } from './settings.js';

export const workspaces = {
  name: 'workspaces',
  settings,
  operationalTables: {
    'workspaces.api_key_use': 'when each API key was last used, to the hour',
    'workspaces.portal_session': 'who may use the portal, and until when',
  },
  projections: {
    'workspaces.workspace.v1': 'open workspaces and their API keys',
  },
  processes: {},
  jobs: {},
} satisfies ModuleManifest;
