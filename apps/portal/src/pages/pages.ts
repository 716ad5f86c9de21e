import type { Page } from '../frame/page.js';
import { newReadingPage } from './new-reading.js';
import { overviewPage } from './overview.js';
import { documentPage, readingPage } from './reading.js';
import { readingsPage } from './readings.js';

/** Every page of the portal. A path with a parameter follows the paths that it would match. */
export const PAGES: readonly Page[] = [overviewPage, readingsPage, newReadingPage, readingPage, documentPage];
