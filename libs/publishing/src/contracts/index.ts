export { CONTENT_VERSION } from '../content/version.js';
export * from './events.js';
