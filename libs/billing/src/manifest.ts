import type { ModuleManifest } from '@app/platform/manifest.js';
import { settings } from './settings.js';

export const billing = {
  name: 'billing',
  settings,
  operationalTables: {
    'billing.reconciliation': 'the last reconciliation',
  },
  scopeAreas: ['credits'],
} satisfies ModuleManifest;
