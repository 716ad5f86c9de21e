import type { ModuleManifest } from '#platform/manifest.js';
import { settings } from './settings.js';

export const readings = {
  name: 'readings',
  settings,
  operationalTables: {},
  projections: {
    'readings.reading.v1': 'each reading as the API shows it, and its sealed result',
    'readings.batch.v1': 'which batches have not ended',
  },
  processes: {
    'readings.generation.v1':
      'adds the jobs of an accepted reading or batch, and removes the timers of a reading that ends',
  },
  jobs: {
    'readings.generate': 'makes one attempt at a reading',
    'readings.delay': 'marks a reading as delayed',
    'readings.time-out': 'fails a reading that takes too long',
    'readings.end-batch': 'records that all readings of a batch have ended',
  },
  audited: { parameter: 'readingId', path: '/api/v1/readings' },
} satisfies ModuleManifest;
