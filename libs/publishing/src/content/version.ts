export { CONTENT_VERSION } from '../contracts/content-version.js';
