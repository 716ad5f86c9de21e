import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import { loadConfig } from '#platform/config/load-config.js';
import { settings } from '../../service/src/settings.js';
import { ApiModule } from './api.module.js';

/** Required settings; their stores are never used. */
const NOWHERE = {
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  ENCRYPTION_KEYS: `none:${Buffer.alloc(32).toString('base64')}`,
  DIGEST_KEY: Buffer.alloc(32).toString('base64'),
};

/** The API assembled but not started, so that its routes can be read. Close it afterwards. */
export const describedApi = (): Promise<NestExpressApplication> =>
  NestFactory.create<NestExpressApplication>(
    ApiModule.forProcess(loadConfig(settings, NOWHERE), pino({ level: 'silent' })),
    { logger: false, abortOnError: false },
  );
