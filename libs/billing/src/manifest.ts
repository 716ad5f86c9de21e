import type { ModuleManifest } from '#platform/manifest.js';
import { settings } from './settings.js';

export const billing = {
  name: 'billing',
  settings,
  operationalTables: {
    'billing.reconciliation': 'the last reconciliation',
  },
  projections: {
    'billing.balance.v1': 'the credits of each workspace, live and test',
    'billing.hold.v1': 'open holds',
  },
  processes: {
    'billing.book-opening.v1': 'opens a credit book for each new workspace',
    'billing.settlement.v1': 'captures or releases the hold of a reading that ended',
    'billing.document-refund.v1': 'gives back the credits of a live reading whose document failed',
  },
  jobs: {},
} satisfies ModuleManifest;
