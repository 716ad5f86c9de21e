import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Param, Post } from '@nestjs/common';
import { APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { BodyPipe } from '@app/platform/http/body.pipe.js';
import { JsonBodyInterceptor } from '@app/platform/http/json-body.interceptor.js';
import { CreateReadingDto } from '@app/readings/http/dto/create-reading.dto.js';

/**
 * The floor the API is measured against: the same framework, the same body rules, no work behind them. It answers what
 * it was sent, about as long as a reading.
 */
@Controller('bare')
class BareController {
  @Post()
  @HttpCode(202)
  create(@Body() body: CreateReadingDto) {
    return { readingId: 'bare', status: 'queued', input: body };
  }

  @Get(':id')
  get(@Param('id') id: string) {
    return { readingId: id, status: 'completed', document: { available: true }, error: null };
  }
}

@Module({
  controllers: [BareController],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
    { provide: APP_PIPE, useClass: BodyPipe },
  ],
})
class BareModule {}

const app = await NestFactory.create<NestExpressApplication>(BareModule, {
  bodyParser: false,
  logger: false,
});
app.use(express.raw({ type: () => true, limit: 16_384 }));
await app.listen(0, '127.0.0.1');
process.stdout.write(`${JSON.stringify({ port: (app.getHttpServer().address() as AddressInfo).port })}\n`);
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
