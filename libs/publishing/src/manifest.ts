import type { ModuleManifest } from '@app/platform/manifest.js';
import { settings } from './settings.js';

export const publishing = {
  name: 'publishing',
  settings,
  operationalTables: {
    'publishing.artifact': 'published bytes, sealed',
  },
  scopeAreas: [],
} satisfies ModuleManifest;
