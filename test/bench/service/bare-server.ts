import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Param, Post } from '@nestjs/common';
import { APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { JsonBodyInterceptor } from '#platform/http/json-body.interceptor.js';
import { CreateReadingDto } from '#readings/http/request-reading.js';
import { serve } from '../serve.js';

/** Response bodies by size, created once. */
const bodies = new Map<string, { text: string }>();

/**
 * The floor for the API: the same framework and body rules, but no work. It returns the body it received, which is
 * about as long as a reading.
 */
@Controller('bare')
class BareController {
  @Post()
  @HttpCode(202)
  create(@Body() body: CreateReadingDto) {
    return { readingId: 'bare', status: 'queued', input: body };
  }

  @Get('sized/:bytes')
  sized(@Param('bytes') bytes: string) {
    const body = bodies.get(bytes) ?? { text: 'x'.repeat(Math.max(0, Number(bytes) - 11)) };
    bodies.set(bytes, body);
    return body;
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

await serve(BareModule);
