// caught by: http-is-the-outermost-layer
export { ReadingBody } from './request-reading.body.js';
