/** What readings needs from other modules. They import these ports from here, so readings imports none of them. */
export * from './credits.js';
export * from './publication.js';
