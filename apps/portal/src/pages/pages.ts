import type { Page } from '../frame/page.js';
import { eventPage, eventsPage } from './events.js';
import { creditsPage, statementFilePage, statementPage, statementPdfPage } from './credits.js';
import { keysPage } from './keys.js';
import { newReadingPage, readingsPage } from './readings.js';
import { overviewPage } from './overview.js';
import { documentPage, readingPage } from './reading.js';
import { deliveryPage, oneEndpointPage, oneReplayPage, replayPage } from './webhooks/endpoint.js';
import { editEndpointPage, endpointsPage, newEndpointPage, secretPage } from './webhooks/endpoints.js';
import { settingsPage } from './settings.js';

/** Every page of the portal. A path with a parameter follows the paths that it would match. */
export const PAGES: readonly Page[] = [
  overviewPage,
  readingsPage,
  newReadingPage,
  readingPage,
  documentPage,
  eventsPage,
  eventPage,
  endpointsPage,
  newEndpointPage,
  oneEndpointPage,
  editEndpointPage,
  secretPage,
  replayPage,
  oneReplayPage,
  deliveryPage,
  keysPage,
  creditsPage,
  statementPage,
  statementFilePage,
  statementPdfPage,
  settingsPage,
];
