// caught by: http-is-the-outermost-layer
export { ReadingDto } from '../http/reading.dto.js';
