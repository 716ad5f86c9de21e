// caught by: eslint(no-restricted-imports): Pass ids as arguments
import { AsyncLocalStorage } from 'node:async_hooks';

export const running = new AsyncLocalStorage<string>();
