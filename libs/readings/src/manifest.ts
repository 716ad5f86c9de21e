import type { ModuleManifest } from '@app/platform/manifest.js';
import { settings } from './settings.js';

export const readings = {
  name: 'readings',
  settings,
  operationalTables: {},
  projections: {
    'readings.reading.v1': 'each reading as the API shows it, and its sealed result',
  },
  processes: {
    'readings.generation.v1': 'adds the jobs of an accepted reading, and removes its timers when it ends',
  },
  jobs: {
    'readings.generate': 'makes one attempt at a reading',
    'readings.delay': 'marks a reading as delayed',
    'readings.time-out': 'fails a reading that takes too long',
  },
  audited: { parameter: 'readingId', path: '/api/v1/readings' },
} satisfies ModuleManifest;
