import type { ModuleManifest } from '@app/platform/manifest.js';
import { settings } from './settings.js';

export const readings = {
  name: 'readings',
  settings,
  operationalTables: {},
  scopeAreas: ['readings'],
  audited: { parameter: 'readingId', path: '/api/v1/readings' },
} satisfies ModuleManifest;
