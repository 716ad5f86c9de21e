/** What readings asks of other modules. They import it from here, so that readings imports none of them. */
export * from './credits.js';
export * from './publication.js';
