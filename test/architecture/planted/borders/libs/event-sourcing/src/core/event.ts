import { createHash } from 'node:crypto';
import { z } from 'zod';

export const shape = z.string();
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
