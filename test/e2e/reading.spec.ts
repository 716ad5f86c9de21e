import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { projectPath } from '#platform/project-path.js';
import { plainText } from '#publishing/pdf/testing/pdf-file.js';
import { Integrator, person, until, type Answer } from '../support/integrator.js';
import { rows } from '../crash/support/nothing-lost.js';
import { fixture, RECEIVER_SETTINGS, startReceiver, startStack } from '../support/index.js';

/** While it exists, a starting worker has other texts. */
const CHANGED = join(tmpdir(), `changed-texts-${process.pid}`);
const TEXTS = {
  CHANGED_TEXTS_FILE: CHANGED,
  CHANGED_TEXTS: 'Thème numérologique=>Thème corrigé',
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${pathToFileURL(projectPath('test/support/changed-texts.mjs')).href}`,
};
afterAll(() => rmSync(CHANGED, { force: true }));

const stack = fixture(() =>
  startStack({
    env: { ...RECEIVER_SETTINGS, ...TEXTS, READING_DELAYED_AFTER_MS: '500' },
  }),
);
const receiver = fixture(startReceiver);
const customer = fixture(() => Integrator.open(stack, 1_000));
beforeAll(async () => {
  await customer.endpoint(receiver);
});

const eventsOf = (readingId: string) =>
  receiver.received.filter(({ event }) => event.readingId === readingId).map(({ event }) => event);
/** Those after `reading.delayed`, which a slow machine sends for any reading. All arrive without a gap, in order. */
const outcomeOf = (readingId: string) => {
  const events = eventsOf(readingId);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  return events.filter(({ type }) => type !== 'reading.delayed');
};

const refusal = ({ status, headers, body }: Answer) => [status, body['code'], headers.get('retry-after')];

it('A reading that takes too long is announced as delayed, once, before it completes', async () => {
  const worker = stack.pids().worker;
  process.kill(worker, 'SIGSTOP');
  const { body } = await customer.create(person());
  await delay(800);
  const path = `/api/v1/readings/${body.readingId}`;
  const early = [409, 'reading_not_completed', '2'];
  expect(refusal(await customer.call('GET', `${path}/result`))).toEqual(early);
  expect(refusal(await customer.call('POST', `${path}/document/republish`))).toEqual(early);
  process.kill(worker, 'SIGCONT');
  await customer.untilEnded(body.readingId);
  await until(
    () => eventsOf(body.readingId).length >= 3,
    () => `${eventsOf(body.readingId).length} webhooks`,
  );
  expect(eventsOf(body.readingId).map(({ type, sequence }) => [type, sequence])).toEqual([
    ['reading.delayed', 1],
    ['reading.completed', 2],
    ['reading.published', 3],
  ]);
});

const FORMATS = ['document_v1', 'markdown', 'pdf'];

/** A version of a document in all formats. */
interface Edition {
  readonly etags: readonly (string | null)[];
  /** Base64. */
  readonly bytes: readonly string[];
  readonly markdown: string;
  /** Of the pages of its PDF, in points. */
  readonly width: number;
}

/** The documents of one reading, for its owner. */
class Documents {
  constructor(
    private readonly customer: Integrator,
    readonly readingId: string,
  ) {}

  /** The version, or the newest. */
  async edition(version?: number): Promise<Edition> {
    const answers = await Promise.all(FORMATS.map((format) => this.fetch(format, version)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const bytes = await Promise.all(answers.map(async (answer) => Buffer.from(await answer.arrayBuffer())));
    return {
      etags: answers.map(({ headers }) => headers.get('etag')),
      bytes: bytes.map((one) => one.toString('base64')),
      markdown: bytes[1]!.toString(),
      width: Number(/\/MediaBox \[0 0 (\d+)/.exec(plainText(bytes[2]!))?.[1]),
    };
  }

  /** Status and code of the answer to a request for a version as PDF. */
  async refusalOf(version: number): Promise<readonly [number, string]> {
    const answer = await this.fetch('pdf', version);
    return [answer.status, ((await answer.json()) as { code: string }).code];
  }

  republish(body?: object): Promise<Answer> {
    return this.customer.call('POST', `/api/v1/readings/${this.readingId}/document/republish`, {
      body,
    });
  }

  /** The reading and its document are shown by two read models, which do not wait for each other. */
  untilVersion(version: number): Promise<void> {
    return until(
      async () =>
        (await this.customer.reading(this.readingId)).document.version === version &&
        (await (await this.fetch('markdown')).text()).includes(`documentVersion: ${version}\n`),
      () => `version ${version}`,
    );
  }

  private fetch(format: string, version?: number): Promise<Response> {
    const query = `format=${format}${version === undefined ? '' : `&version=${version}`}`;
    return fetch(`${this.customer.baseUrl}/api/v1/readings/${this.readingId}/document?${query}`, {
      headers: { 'x-api-key': this.customer.apiKey },
    });
  }
}

describe('another version of a document', () => {
  let documents: Documents;
  let first: Edition;

  it('is made from the current texts, announced, and leaves the bytes of the first', async () => {
    const choosePaper = async (paper: string): Promise<void> => {
      const { workspaceId } = customer;
      const chosen = await stack.ops(['workspace', 'booklet', '--workspace', workspaceId, '--paper', paper]);
      expect(chosen).toMatchObject({ outcome: 'chosen' });
      const isKnown = `select from workspaces.workspace where workspace_id = '${workspaceId}' and paper = '${paper}'`;
      await until(async () => (await rows(stack, isKnown)).length > 0, `the paper is ${paper}`);
    };
    await choosePaper('us-letter');
    const readingId = await customer.published();
    documents = new Documents(customer, readingId);
    first = await documents.edition();
    const before = await customer.balanceAtRest();
    const same = await documents.republish({ onlyIfTextsChanged: true });
    expect([same.status, same.body]).toEqual([202, { readingId, version: 1, outcome: 'unchanged' }]);
    await choosePaper('by-locale');
    writeFileSync(CHANGED, '');
    process.kill(stack.pids().worker, 'SIGKILL');
    const answers = await Promise.all([1, 2, 3].map(() => documents.republish()));
    for (const { status, headers, body } of answers) {
      expect([status, body]).toEqual([202, { readingId, version: 2, outcome: 'requested' }]);
      expect(headers.get('location')).toBe(`/api/v1/readings/${readingId}`);
    }
    await documents.untilVersion(2);
    const second = await documents.edition();
    expect(first.markdown).toContain('Thème numérologique');
    expect(second.markdown).toContain('Thème corrigé');
    expect(second.markdown).toMatch(/documentVersion: 2/);
    expect(second.etags).not.toEqual(first.etags);
    expect([first.width, second.width]).toEqual([612, 595]);
    expect(await documents.edition(2)).toEqual(second);
    expect(await documents.edition(1)).toEqual(first);
    expect(await documents.refusalOf(3)).toEqual([404, 'version_not_found']);
    await until(() => outcomeOf(readingId).length >= 3, 'reading.published of version 2');
    expect(outcomeOf(readingId)).toMatchObject([
      { type: 'reading.completed' },
      { type: 'reading.published', data: { document: { version: 1 } } },
      { type: 'reading.published', data: { document: { version: 2 } } },
    ]);
    expect(await customer.balance()).toEqual(before);
  });

  it('whose stored bytes are lost is made again with equal bytes, and only with equal bytes', async () => {
    const { readingId } = documents;
    const lose = `delete from publishing.artifact where reading_id = $1 and format <> 'markdown'`;
    await stack.query(lose, [readingId]);
    expect(await documents.refusalOf(1)).toEqual([404, 'document_not_available']);
    expect(await stack.doctor()).toContainEqual(
      expect.objectContaining({ check: 'documents', level: 'failure' }),
    );
    const remake = (...args: string[]) => stack.report(['publications', 'remake', ...args]);
    const versions = [
      { readingId, version: 1, lost: ['document_v1', 'pdf'], outcome: 'remade' },
      // The operator's program has the texts of version 1.
      { readingId, version: 2, lost: ['document_v1', 'pdf'], outcome: 'renders_differently' },
    ];
    expect(await remake('--all')).toMatchObject({ dryRun: true, versions });
    expect(await documents.refusalOf(1)).toEqual([404, 'document_not_available']);
    expect(await remake(readingId, '--yes')).toMatchObject({ versions });
    expect(await documents.edition(1)).toEqual(first);
  });
});
