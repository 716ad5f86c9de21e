import type { ModuleManifest } from '#platform/manifest.js';
import { settings } from './settings.js';

export const publishing = {
  name: 'publishing',
  settings,
  operationalTables: {
    'publishing.artifact': 'published bytes, sealed',
    'publishing.document_link': 'links to documents, with the hashes of their tokens',
    'publishing.render_attempt': 'attempts at documents that their workers have not ended; may be lost',
  },
  projections: {
    'publishing.publication-view.v1': 'the publications of each reading',
  },
  processes: {
    'publishing.publication.v1':
      'adds the job that publishes a completed reading, or a later version of its document',
    'readings.erasure.v1': 'finishes an interrupted erasure once the publication is withdrawn',
  },
  jobs: {
    'publishing.publish': 'renders and stores the documents of a reading',
  },
} satisfies ModuleManifest;
