import type { ModuleManifest } from '@app/platform/manifest.js';
import { settings } from './settings.js';

export const publishing = {
  name: 'publishing',
  settings,
  operationalTables: {
    'publishing.artifact': 'published bytes, sealed',
  },
  projections: {
    'publishing.publication-view.v1': 'the publication of each reading',
  },
  processes: {
    'publishing.publication.v1': 'adds the job that publishes a completed reading',
    'readings.erasure.v1': 'finishes an interrupted erasure once the publication is withdrawn',
  },
  jobs: {
    'publishing.publish': 'renders and stores the documents of a reading',
  },
} satisfies ModuleManifest;
