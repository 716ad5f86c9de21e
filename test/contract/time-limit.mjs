import { expect, jest } from '@jest/globals';

/** An answer that never comes is a common difference between two event stores: a contract spec does not wait for long. */
const TIME_LIMIT_MS = 45_000;
/** A real server takes seconds to start, and specs of its process start it several times. */
const TIME_LIMIT_ELSEWHERE_MS = 90_000;

if (expect.getState().testPath?.includes('/test/contract/'))
  jest.setTimeout(process.env['TEST_EVENT_STORE_COMMAND'] ? TIME_LIMIT_ELSEWHERE_MS : TIME_LIMIT_MS);
