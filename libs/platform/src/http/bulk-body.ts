import { SetMetadata } from '@nestjs/common';

const LINES = 'http:lines';
/** One JSON value on each line (https://github.com/ndjson/ndjson-spec). */
export const NDJSON = 'application/x-ndjson';

/** The route also takes newline-delimited JSON. Its body is then the raw bytes, and the route parses the lines. */
export const TakesLines = () => SetMetadata(LINES, true);

export const takesLines = (handler: object): boolean => Reflect.getMetadata(LINES, handler) === true;
