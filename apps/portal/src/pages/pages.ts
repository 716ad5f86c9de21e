import type { Page } from '../frame/page.js';
import { overviewPage } from './overview.js';
import { readingsPage } from './readings.js';

/** Every page of the portal. A path with a parameter follows the paths that it would match. */
export const PAGES: readonly Page[] = [overviewPage, readingsPage];
