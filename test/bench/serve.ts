import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express from 'express';
import type { AddressInfo } from 'node:net';

/** Serves a module on a free port, which it prints as `{"port":…}`, until its standard input ends. */
export const serve = async (module: Type): Promise<void> => {
  const app = await NestFactory.create<NestExpressApplication>(module, { bodyParser: false, logger: false });
  app.use(express.raw({ type: () => true, limit: 16_384 }));
  await app.listen(0, '127.0.0.1');
  process.stdout.write(`${JSON.stringify({ port: (app.getHttpServer().address() as AddressInfo).port })}\n`);
  process.stdin.on('end', () => process.exit(0));
  process.stdin.resume();
};
