import type { Page } from '../frame/page.js';
import { creditsPage } from './credits.js';
import { keysPage } from './keys.js';
import { newReadingPage } from './new-reading.js';
import { overviewPage } from './overview.js';
import { documentPage, readingPage } from './reading.js';
import { readingsPage } from './readings.js';
import { settingsPage } from './settings.js';
import { statementFilePage, statementPage } from './statement.js';

/** Every page of the portal. A path with a parameter follows the paths that it would match. */
export const PAGES: readonly Page[] = [
  overviewPage,
  readingsPage,
  newReadingPage,
  readingPage,
  documentPage,
  keysPage,
  creditsPage,
  statementPage,
  statementFilePage,
  settingsPage,
];
