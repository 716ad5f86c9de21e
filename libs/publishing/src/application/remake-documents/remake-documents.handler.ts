import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ArtifactStore } from '../../artifacts/artifact.store.js';
import { RemakeDocuments, type RemadeVersion } from '../../contracts/commands.js';
import { CONTENT_VERSION } from '../../contracts/content-version.js';
import type { DocumentFormat } from '../../contracts/events.js';
import type { Edition } from '../../document/render-document.js';
import type { PublishedVersion } from '../../domain/publication/publication.decider.js';
import type { Typesetter } from '../../pdf/typesetter.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from '../../publication.executor.js';

/** Renders in this thread, for the operator's program: a service uses the threads of its renderer. */
@CommandHandler(RemakeDocuments)
export class RemakeDocumentsHandler implements ICommandHandler<RemakeDocuments> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    private readonly artifacts: ArtifactStore,
  ) {}

  async execute({ readingId, result, dryRun }: RemakeDocuments): Promise<readonly RemadeVersion[]> {
    const { state } = await this.executor.load(readingId);
    const stored = await this.artifacts.stored(readingId);
    const made: RemadeVersion[] = [];
    for (const published of state.published.values()) {
      const { version, formats, contentVersion } = published;
      const known = stored.get(version) ?? [];
      const lost = formats.map(({ format }) => format).filter((format) => !known.includes(format));
      if (lost.length === 0) continue;
      const outcome = state.withdrawn
        ? 'erased'
        : await this.remake(readingId, published, lost, result, dryRun);
      made.push({ version, lost, outcome, contentVersion });
    }
    return made;
  }

  private async remake(
    readingId: string,
    { version, livemode, artifactId, publishedAt, paper, formats, contentVersion }: PublishedVersion,
    lost: readonly DocumentFormat[],
    result: Buffer,
    dryRun: boolean,
  ): Promise<RemadeVersion['outcome']> {
    const digests = new Map(formats.map(({ format, digest }) => [format, digest]));
    if (contentVersion !== CONTENT_VERSION) return 'texts_changed';
    const rendered = await render(result, { version, publishedAt, livemode, paper });
    const again: Partial<Record<DocumentFormat, Uint8Array>> = {};
    for (const format of lost) {
      const same = await this.artifacts.matches(readingId, rendered[format], digests.get(format)!);
      if (same === null) return 'erased';
      if (!same) return 'renders_differently';
      again[format] = rendered[format];
    }
    if (dryRun) return 'remade';
    const put = await this.artifacts.put({ readingId, version, artifactId, contentVersion }, again);
    return put ? 'remade' : 'erased';
  }
}

/** The texts and the typesetter load at the first use: no other command of this module needs them. */
const render = async (result: Buffer, edition: Edition) => {
  const { renderDocument } = await import('../../document/render-document.js');
  const { createTypesetter } = await import('../../pdf/typesetter.js');
  typesetter ??= createTypesetter();
  return renderDocument(result, edition, (document, paper) => typesetter!.typeset(document, paper));
};

let typesetter: Typesetter | undefined;
