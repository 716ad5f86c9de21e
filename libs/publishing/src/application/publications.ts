import { Inject, Optional } from '@nestjs/common';
import { CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { CLOCK } from '#platform/tokens.js';
import { WithdrawPublication } from '#readings/contracts/index.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import { CONTENT_VERSION } from '../contracts/content-version.js';
import {
  type DocumentFormat,
  publicationEvents,
  type RemadeVersion,
  RemakeDocuments,
  RepublishDocument,
  type RepublishResult,
} from '../contracts/index.js';
import type { Edition } from '../document/render-document.js';
import { newestVersion, publicationDecider, type PublishedVersion } from '../domain/publication.decider.js';
import type { Typesetter } from '../pdf/typesetter.js';
import { artifactIdOf, ArtifactStore } from './artifact.store.js';

/** Folded streams kept in memory, per process: the steps of one reading follow each other within a second. */
const CACHED_STREAMS = 256;

/** Executes commands on `publication-<readingId>` streams only. */
export const createPublicationExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [publicationEvents.category]),
    publicationEvents,
    publicationDecider,
    { cachedStreams: CACHED_STREAMS },
  );

export type PublicationExecutor = ReturnType<typeof createPublicationExecutor>;
export const PUBLICATION_EXECUTOR = Symbol('PublicationExecutor');

/** Versions that the document of a reading may have. */
export const MOST_VERSIONS = 20;

/**
 * Requests the next version. The publication's stream decides: of two requests at once, one is recorded, and both are
 * answered with its version. The worker makes it.
 */
@CommandHandler(RepublishDocument)
export class RepublishDocumentHandler implements ICommandHandler<RepublishDocument> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly queries: QueryBus,
    @Optional() private readonly most = MOST_VERSIONS,
  ) {}

  async execute({ readingId, workspaceId, options, by }: RepublishDocument): Promise<RepublishResult> {
    const version = newestVersion((await this.executor.load(readingId)).state) + 1;
    const paper = await this.queries.execute(new GetPaper(workspaceId));
    const at = this.clock.now();
    const decided = await this.executor.execute(
      readingId,
      {
        type: 'RequestNextVersion',
        publication: {
          workspaceId,
          version,
          artifactId: artifactIdOf(readingId, version),
          publishedAt: instant(at),
          paper,
        },
        most: this.most,
        unlessFrom: options.onlyIfTextsChanged ? CONTENT_VERSION : null,
      },
      { intent: `request:${version}`, by, workspaceId, at },
    );
    if (decided.kind === 'accepted') return { outcome: 'requested', version };
    if (decided.kind === 'ignored')
      return decided.reason === 'TextsUnchanged'
        ? { outcome: 'unchanged', version: newestVersion(decided.state) }
        : { outcome: 'under_way', version };
    return decided.code === 'TooManyVersions'
      ? { outcome: 'too_many_versions', most: decided.details.most }
      : { outcome: 'erased' };
  }
}

@CommandHandler(WithdrawPublication)
export class WithdrawPublicationHandler implements ICommandHandler<WithdrawPublication> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ readingId, workspaceId, by }: WithdrawPublication): Promise<void> {
    await this.executor.execute(
      readingId,
      { type: 'WithdrawPublication', workspaceId },
      { intent: 'withdraw', by, workspaceId, at: this.clock.now() },
    );
  }
}

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
  const { renderDocument } = await import('../document/render-document.js');
  const { createTypesetter } = await import('../pdf/typesetter.js');
  typesetter ??= createTypesetter();
  return renderDocument(result, edition, (document, paper) => typesetter!.typeset(document, paper));
};

let typesetter: Typesetter | undefined;
