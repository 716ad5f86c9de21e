import { SetMetadata } from '@nestjs/common';

const LINES = 'http:lines';
/** One JSON value on each line (https://github.com/ndjson/ndjson-spec). */
export const NDJSON = 'application/x-ndjson';

/** The route also takes newline-delimited JSON. It parses its body itself: in both media types, it gets the raw bytes. */
export const TakesLines = () => SetMetadata(LINES, true);

export const takesLines = (handler: object): boolean => Reflect.getMetadata(LINES, handler) === true;
