import { createHash } from 'node:crypto';
import { z } from 'zod';
import { digest } from '@app/event-sourcing/core/event.js';
import { reduce } from '@app/numerology/index.js';
import { readingRequested } from '../contracts/events.js';

export interface Reading {
  readonly id: string;
}
export const reading = [createHash, z, digest, reduce, readingRequested];
