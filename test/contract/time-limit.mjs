import { expect, jest } from '@jest/globals';

/** An answer that never comes is a common difference between two event stores: a contract spec does not wait for long. */
const TIME_LIMIT_MS = 15_000;

if (expect.getState().testPath?.includes('/test/contract/')) jest.setTimeout(TIME_LIMIT_MS);
