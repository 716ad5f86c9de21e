import type { Page } from '../frame/page.js';
import { eventPage, eventsPage } from './events.js';
import { creditsPage } from './credits.js';
import { keysPage } from './keys.js';
import { newReadingPage, readingsPage } from './readings.js';
import { overviewPage } from './overview.js';
import { documentPage, readingPage } from './reading.js';
import { deliveryPage } from './webhooks/delivery.js';
import { editEndpointPage, endpointsPage, newEndpointPage, secretPage } from './webhooks/endpoints.js';
import { oneEndpointPage } from './webhooks/endpoint.js';
import { oneReplayPage, replayPage } from './webhooks/replay.js';
import { settingsPage } from './settings.js';
import { statementFilePage, statementPage, statementPdfPage } from './statement.js';

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
