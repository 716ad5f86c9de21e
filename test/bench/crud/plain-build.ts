import 'reflect-metadata';
import {
  Body,
  Controller,
  HttpCode,
  Inject,
  Injectable,
  Module,
  Post,
  Req,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { Request } from 'express';
import { randomUUID } from 'node:crypto';
import { run, Logger } from 'graphile-worker';
import pg from 'pg';
import { transaction } from '#event-sourcing/projections/checkpoint.js';
import type { ReadingResult } from '#numerology/index.js';
import { open, seal } from '#platform/crypto/sealing.js';
import { composeDocument } from '#publishing/document/compose.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { createPdfRenderer } from '#publishing/pdf/renderer.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { themeCalculator } from '#readings/application/generate-reading.js';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { JsonBodyInterceptor } from '#platform/http/json-body.interceptor.js';
import { CreateReadingDto } from '#readings/http/request-reading.js';
import { serve } from '../serve.js';
import { COST, GENERATE, hashOf } from './tables.js';

/**
 * The service without events, as `api` or as `worker`. The API has the same framework, body rules and response. One transaction holds the credits, writes
 * the reading and its record, and adds the job, which generates, publishes and charges a reading.
 */
const POOL = Symbol('Pool');
const KEY = Buffer.from(process.env['CRUD_KEY']!, 'hex');
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
pool.on('error', () => undefined);

type Authenticated = Request & { workspaceId: string };

@Injectable()
class ApiKeyGuard implements CanActivate {
  /** Caches a valid key for two seconds, as the service does. */
  private readonly known = new Map<string, { workspaceId: string; until: number }>();

  constructor(@Inject(POOL) private readonly pool: pg.Pool) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Authenticated>();
    const key = request.get('x-api-key') ?? '';
    let found = this.known.get(key);
    if (!found || found.until < Date.now()) {
      const { rows } = await this.pool.query<{ workspace_id: string }>(
        'select workspace_id from crud.api_key where key_hash = $1',
        [hashOf(key)],
      );
      if (!rows[0]) throw new UnauthorizedException();
      found = { workspaceId: rows[0].workspace_id, until: Date.now() + 2_000 };
      this.known.set(key, found);
    }
    request.workspaceId = found.workspaceId;
    return true;
  }
}

@Controller('readings')
@UseGuards(ApiKeyGuard)
class ReadingsController {
  constructor(@Inject(POOL) private readonly pool: pg.Pool) {}

  @Post()
  @HttpCode(202)
  async create(@Body() body: CreateReadingDto, @Req() { workspaceId }: Authenticated) {
    const readingId = randomUUID();
    const { productId, profileId, locale, name, dateOfBirth, grammaticalProfile } = body;
    const input = { name, dateOfBirth, grammaticalProfile };
    const sealed = seal(KEY, readingId, Buffer.from(JSON.stringify(input)));
    await transaction(this.pool, async (client) => {
      const { rowCount } = await client.query({
        name: 'hold',
        text: `update crud.workspace set available = available - $2, held = held + $2
               where workspace_id = $1 and available >= $2`,
        values: [workspaceId, COST],
      });
      if (rowCount === 0) throw new Error('Not enough credits');
      await client.query({
        name: 'reading',
        text: 'insert into crud.reading (reading_id, workspace_id, locale, input) values ($1, $2, $3, $4)',
        values: [readingId, workspaceId, locale, sealed],
      });
      await client.query({
        name: 'movement',
        text: `insert into crud.movement (workspace_id, reading_id, kind, amount) values ($1, $2, 'hold', $3)`,
        values: [workspaceId, readingId, COST],
      });
      await client.query({
        name: 'job',
        text: 'select graphile_worker.add_job($1, json_build_object($2::text, $3::text))',
        values: [GENERATE, 'readingId', readingId],
      });
    });
    const at = new Date().toISOString();
    const document = { available: false, version: null, publishedAt: null };
    return {
      readingId,
      workspaceId,
      status: 'queued',
      productId,
      profileId,
      locale,
      input,
      createdAt: at,
      updatedAt: at,
      completedAt: null,
      document,
      error: null,
    };
  }
}

@Module({
  controllers: [ReadingsController],
  providers: [
    { provide: POOL, useValue: pool },
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
    { provide: APP_PIPE, useClass: BodyPipe },
  ],
})
class CrudModule {}

type Pdf = ReturnType<typeof createPdfRenderer>;

const generate = async (pdf: Pdf, readingId: string): Promise<void> => {
  const { rows } = await pool.query<{ workspace_id: string; locale: 'fr-FR' | 'en-US'; input: Buffer }>(
    `update crud.reading set status = 'processing' where reading_id = $1 and published_at is null
     returning workspace_id, locale, input`,
    [readingId],
  );
  const [reading] = rows;
  if (!reading) return;
  const asOf = new Date().toISOString();
  const input = JSON.parse(open(KEY, readingId, reading.input).toString('utf8')) as never;
  const bytes = themeCalculator(documentPublisher)({
    readingId,
    locale: reading.locale,
    asOf: asOf.slice(0, 10),
    input,
  });
  const document = composeDocument(JSON.parse(bytes.toString('utf8')) as ReadingResult, {
    publishedAt: asOf,
  });
  const formats = {
    document_v1: Buffer.from(JSON.stringify(document)),
    markdown: Buffer.from(renderMarkdown(document)),
    pdf: await pdf.render(document),
  };
  await transaction(pool, async (client) => {
    for (const [format, content] of Object.entries(formats))
      await client.query('insert into crud.artifact values ($1, $2, $3)', [
        readingId,
        format,
        seal(KEY, readingId, content),
      ]);
    await client.query(
      `update crud.reading set status = 'completed', result = $2, published_at = now() where reading_id = $1`,
      [readingId, seal(KEY, readingId, bytes)],
    );
    await client.query(
      'update crud.workspace set held = held - $2, consumed = consumed + $2 where workspace_id = $1',
      [reading.workspace_id, COST],
    );
    await client.query(
      `insert into crud.movement (workspace_id, reading_id, kind, amount) values ($1, $2, 'capture', $3)`,
      [reading.workspace_id, readingId, COST],
    );
  });
};

const work = async (): Promise<void> => {
  const pdf = createPdfRenderer(1);
  await run({
    pgPool: pool,
    concurrency: 4,
    pollInterval: 1_000,
    logger: new Logger(() => () => undefined),
    taskList: { [GENERATE]: (payload) => generate(pdf, (payload as { readingId: string }).readingId) },
  });
  process.stdout.write('{"event":"working"}\n');
  process.stdin.on('end', () => process.exit(0));
  process.stdin.resume();
};

if (process.argv[2] === 'api') await serve(CrudModule);
else await work();
