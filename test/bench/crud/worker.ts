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
import { COST, GENERATE } from './tables.js';

/** The worker without events: one job generates, publishes and charges a reading. */
const KEY = Buffer.from(process.env['CRUD_KEY']!, 'hex');
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
pool.on('error', () => undefined);
const pdf = createPdfRenderer(1);

const generate = async (readingId: string): Promise<void> => {
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

await run({
  pgPool: pool,
  concurrency: 4,
  pollInterval: 1_000,
  logger: new Logger(() => () => undefined),
  taskList: { [GENERATE]: (payload) => generate((payload as { readingId: string }).readingId) },
});
process.stdout.write('{"event":"working"}\n');
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
