import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import type { DocumentPublisher } from '#readings/contracts/index.js';
import { CONTENT_VERSION } from './content-version.js';
import { DOCUMENT_FORMATS, publicationEvents } from './events.js';

/** The port through which readings uses publishing. */
export const documentPublisher: DocumentPublisher = {
  contentVersion: CONTENT_VERSION,
  formats: DOCUMENT_FORMATS,
  feed: selectEvents(publicationEvents, 'DocumentPublished'),
};
