import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { composeDocument } from '#publishing/document/compose.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { createPdfRenderer } from '#publishing/pdf/renderer.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { themeCalculator } from '#readings/application/generate-reading.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fixture, sharedStack } from '../support/index.js';
import { everyFile, everyTable } from '../support/all-that-is-stored.js';

/**
 * A result is a function of name and date, so an attacker can compute it for a few candidates. The attacker has the
 * whole data folder after the erasure, every configured key, and the source code.
 */
const NAMES = ['Qxanthippe', 'Wombatine', 'Ada'];
const DATES = ['1987-03-29', '1987-03-30', '1962-11-02', '2001-07-15'];
const RIGHT = { ...person('Qxanthippe', 'en-US'), dateOfBirth: '1987-03-29' };
type Request = typeof RIGHT;
const CANDIDATES: readonly Request[] = NAMES.flatMap((name) =>
  DATES.map((dateOfBirth) => ({ ...person(name, 'en-US'), dateOfBirth })),
);
/** The padding steps, bytes. The attacker knows them from the source. */
const STEPS = { input: 512, result: 8_192, document_v1: 65_536, markdown: 32_768, pdf: 131_072 } as const;
type Part = keyof typeof STEPS;
type Parts = Partial<Record<Part, Buffer>>;
/** Length of nonce and tag of a sealed text. */
const SEAL_BYTES = 28;

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 400));
let readingId: string;
let log: StoredEvent[];
let right: Required<Record<Part, Buffer>>;
let digestKey: Buffer;
let keys: Buffer[];

const fetched = async (path: string): Promise<Buffer> => {
  const answer = await fetch(`${stack.baseUrl}/api/v1/readings/${readingId}/${path}`, {
    headers: { 'x-api-key': customer.apiKey },
  });
  return Buffer.from(await answer.arrayBuffer());
};

const events = (category: string, type: string): StoredEvent[] =>
  log.filter((event) => event.stream === `${category}-${readingId}` && event.type === type);
const dataOf = <T>(type: string, category = 'reading'): T => events(category, type)[0]!.data as T;

const inputOf = ({ name, dateOfBirth, grammaticalProfile }: Request) => ({
  name,
  dateOfBirth,
  grammaticalProfile,
});

/** Everything the service derives from a person, except the PDF. */
const partsOf = (request: Request): Required<Omit<Parts, 'pdf'>> & { document: object } => {
  const { asOf } = dataOf<{ asOf: string }>('ReadingRequested');
  const { publishedAt } = dataOf<{ publishedAt: string }>('PublicationRequested', 'publication');
  const input = inputOf(request);
  const result = themeCalculator(documentPublisher)({ readingId, locale: 'en-US', asOf, input });
  const document = composeDocument(JSON.parse(result.toString()), { publishedAt });
  return {
    input: Buffer.from(JSON.stringify(input)),
    result,
    document_v1: Buffer.from(JSON.stringify(document)),
    markdown: Buffer.from(renderMarkdown(document)),
    document,
  };
};

const requestDigest = (request: Request): Buffer => {
  const { productId, profileId, locale } = request;
  return createHmac('sha256', digestKey)
    .update('reading-request')
    .update('\u0000')
    .update(canonicalJson({ productId, profileId, locale, input: inputOf(request) }))
    .digest();
};

beforeAll(async () => {
  const secrets = JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as Record<
    string,
    string
  >;
  digestKey = Buffer.from(secrets['DIGEST_KEY']!, 'base64');
  keys = [
    digestKey,
    ...(secrets['ENCRYPTION_KEYS'] ?? '')
      .split(',')
      .map((one) => Buffer.from(one.split(':')[1] ?? '', 'base64')),
  ];
  const { body } = await customer.create(RIGHT);
  readingId = body.readingId;
  await customer.untilEnded(readingId);
  const [result, document_v1, markdown, pdf] = await Promise.all(
    ['result', 'document?format=document_v1', 'document?format=markdown', 'document?format=pdf'].map(fetched),
  );
  right = {
    input: Buffer.from(JSON.stringify(inputOf(RIGHT))),
    result: result!,
    document_v1: document_v1!,
    markdown: markdown!,
    pdf: pdf!,
  };
  await stack.ops(['erase', readingId, '--yes']);
  await until(
    async () => (await customer.reading(readingId))['erasedAt'] !== null,
    () => 'the erasure is projected',
  );
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 30_000,
    readTimeoutMs: 30_000,
  });
  log = [];
  for await (const event of store.readAll()) log.push(event);
  await store.close();
});

/** Digests of some bytes that a version of the service makes or might make, in each spelling. */
const needlesOf = (bytes: Buffer): Buffer[] => {
  const digests = [
    ...['sha256', 'sha1', 'md5'].map((name) => createHash(name).update(bytes).digest()),
    ...keys.map((key) => createHmac('sha256', key).update(bytes).digest()),
  ];
  return digests.flatMap(spellingsOf);
};

const spellingsOf = (digest: Buffer): Buffer[] => [
  digest,
  Buffer.from(digest.toString('hex').slice(0, 32)),
  Buffer.from(digest.toString('base64').slice(0, 20)),
];

/** The parts with a digest in the haystack. */
const named = (haystack: Buffer, wanted: ReadonlyMap<string, readonly Buffer[]>): string[] =>
  [...wanted]
    .filter(([, needles]) => needles.some((needle) => haystack.includes(needle)))
    .map(([part]) => part);

const needlesOfRight = (): Map<string, Buffer[]> => {
  const wanted = new Map(Object.entries(right).map(([part, bytes]) => [part, needlesOf(bytes)]));
  wanted.set('request', spellingsOf(requestDigest(RIGHT)));
  return wanted;
};

describe('An attacker with candidates for an erased person, all remaining data, and every key', () => {
  it('can reproduce the exact bytes of each candidate, or this test would show nothing', async () => {
    const made = partsOf(RIGHT);
    for (const part of ['input', 'result', 'document_v1', 'markdown'] as const)
      expect([part, made[part].equals(right[part])]).toEqual([part, true]);
    const pdf = createPdfRenderer(1);
    const rendered = await pdf.render(made.document as never);
    await pdf.close();
    expect(Buffer.from(rendered).equals(right.pdf)).toBe(true);
    const one = createHash('sha256').update(right.pdf).digest('hex');
    expect(named(Buffer.from(`… ${one} …`), needlesOfRight())).toEqual(['pdf']);
  });

  it('finds no digest of the person in the events of the log', () => {
    expect(
      named(Buffer.from(JSON.stringify(log.map(({ data, metadata }) => [data, metadata]))), needlesOfRight()),
    ).toEqual([]);
  });

  it('finds none in any table or file: the store’s own, the database’s, its write-ahead log, what was logged', async () => {
    const wanted = needlesOfRight();
    const found: string[] = [];
    const [tables, files] = [new Set<string>(), new Set<string>()];
    for await (const [name, rows] of everyTable(stack)) {
      tables.add(name);
      found.push(...named(Buffer.from(rows), wanted).map((part) => `${name}: ${part}`));
    }
    for (const [path, bytes] of everyFile(stack)) {
      files.add(path);
      found.push(...named(bytes, wanted).map((part) => `${path}: ${part}`));
    }
    expect([found, tables.size > 10, files.size > 50]).toEqual([[], true, true]);
  });

  it('cannot tell candidates apart by the recorded lengths', () => {
    const { sealedInput } = dataOf<{ sealedInput: string }>('ReadingRequested');
    const { sealedResult } = dataOf<{ sealedResult: string }>('ReadingCompleted');
    const { formats } = dataOf<{ formats: { format: Part; bytes: number }[] }>(
      'DocumentPublished',
      'publication',
    );
    const opened = (sealed: string): number => Buffer.from(sealed, 'base64').length - SEAL_BYTES;
    const recorded: [Part, number][] = [
      ['input', opened(sealedInput)],
      ['result', opened(sealedResult)],
      ...formats.map(({ format, bytes }): [Part, number] => [format, bytes]),
    ];
    expect(recorded.map(([part]) => part).toSorted()).toEqual(Object.keys(STEPS).toSorted());
    const couldBe = (part: Part, length: number, bytes: number): boolean =>
      bytes === length || bytes === (Math.floor(length / STEPS[part]) + 1) * STEPS[part];
    // Checks only the right candidate's PDF: rendering all of them would take too long.
    for (const [part, bytes] of recorded)
      expect([part, couldBe(part, right[part].length, bytes)]).toEqual([part, true]);
    const likely = CANDIDATES.filter((candidate) => {
      const made: Parts = partsOf(candidate);
      return recorded.every(([part, bytes]) => part === 'pdf' || couldBe(part, made[part]!.length, bytes));
    });
    expect(likely).toHaveLength(CANDIDATES.length);
  });
});
