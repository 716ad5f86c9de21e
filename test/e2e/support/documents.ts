import { expect } from '@jest/globals';
import { pathToFileURL } from 'node:url';
import { projectPath } from '#platform/project-path.js';
import { plainText } from '#publishing/pdf/testing/pdf-file.js';
import { until, type Answer, type Integrator } from '../../support/integrator.js';

const FORMATS = ['document_v1', 'markdown', 'pdf'];

/** Settings of a stack whose processes, started while the file exists, have `to` in their texts for `from`. */
export const changedTexts = (file: string, from: string, to: string) => ({
  CHANGED_TEXTS_FILE: file,
  CHANGED_TEXTS: `${from}=>${to}`,
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${pathToFileURL(projectPath('test/support/changed-texts.mjs')).href}`,
});

/** A version of a document in all formats. */
export interface Edition {
  readonly etags: readonly (string | null)[];
  /** Base64. */
  readonly bytes: readonly string[];
  readonly markdown: string;
  /** Of the pages of its PDF, in points. */
  readonly width: number;
}

/** The documents of one reading, for its owner. */
export class Documents {
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

  republish(
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer<{ version: number; outcome: string; code?: string }>> {
    return this.customer.call('POST', `/api/v1/readings/${this.readingId}/document/republish`, {
      body,
      headers,
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
